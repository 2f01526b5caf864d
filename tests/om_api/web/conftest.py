"""The pages as a browser without scripts meets them: a real app on a real store, with workers that work when a test says so."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from key_ring import KeyRing
from served import ring, serving, settings
from starlette.testclient import TestClient

from om_api.settings import Settings

__all__ = ["ring", "settings"]
_TOKEN = re.compile(r'name="token" value="([0-9a-f]{64})"')


@pytest.fixture
def app(settings: Settings) -> Iterator[TestClient]:
    """A browser that nobody has signed in with; it follows no redirection, and keeps no cookie for others."""
    with serving(settings, pages=True, follow_redirects=False) as http:
        yield http


class Session:
    """Somebody who is signed in: asks for pages with the cookie, and sends forms with the token that they hold."""

    def __init__(self, app: TestClient, key: str) -> None:
        self._app = app
        answer = app.post("/ui/sign-in", data={"key": key})
        assert answer.status_code == 303, answer.text
        self.cookie = answer.cookies["om_session"]
        app.cookies.clear()
        (self.token,) = set(_TOKEN.findall(self.get("/ui/agents").text))

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """Ask with the cookie, and with nothing else that was not given."""
        headers = {"Cookie": f"om_session={self.cookie}", **options.pop("headers", {})}
        answer = self._app.request(method, path, headers=headers, **options)
        self._app.cookies.clear()
        return answer

    def get(self, path: str, **params: Any) -> Any:
        return self.ask("GET", path, params=params)

    def send(self, path: str, fields: Any = None, **options: Any) -> Any:
        """Send a form of ours."""
        return self.ask("POST", path, data={"token": self.token, **(fields or {})}, **options)


@pytest.fixture
def sign_in(app: TestClient, ring: KeyRing) -> Callable[..., Session]:
    """Somebody with a new key: `sign_in("reader", "harold")`."""
    return lambda role, *resources: Session(app, str(ring.create(resources, role)[1]))
