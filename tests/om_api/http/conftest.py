"""The HTTP API as a client meets it: a real app on a real store, with workers that work when a test says so."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from key_ring import KeyRing
from served import filled, ring, serving, settings, settings_of
from starlette.testclient import TestClient
from world import World

from om_api.domain.events import Event
from om_api.http.requests import context_forms
from om_api.http.routes import messages
from om_api.settings import Settings
from om_api.store.fleet import event_stream

__all__ = ["ring", "settings"]
HAROLD = "/v1/resources/harold"


@pytest.fixture
def app(settings: Settings) -> Iterator[TestClient]:
    """Somebody without a key."""
    with serving(settings) as http:
        yield http


@pytest.fixture
def using(app: TestClient, ring: KeyRing) -> Callable[..., Callable[..., Any]]:
    """Somebody with a key: `using("writer", "harold")("GET", path)`."""

    def holding(role: str, *resources: str) -> Callable[..., Any]:
        _, token = ring.create(resources, role)
        return lambda method, path, **options: app.request(
            method, path, headers={"Authorization": f"Bearer {token}", **options.pop("headers", {})}, **options
        )

    return holding


@pytest.fixture
def ask(using: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Harold's operator."""
    return using("operator", "harold")


@pytest.fixture
def say(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Add messages of 100 tokens to harold's thread over HTTP."""

    def post(*names: str, thread: str = "t-1", **fields: Any) -> Any:
        given = [
            {"id": name or None, "role": "user", "content": f"about {name}", "tokens": 100, **fields} for name in names
        ]
        return ask("POST", f"{HAROLD}/threads/{thread}/messages", json={"messages": given})

    return post


@pytest.fixture
def full(world):
    """Harold's memory with observations, a generation and what it replaced, over two threads."""
    filled("full", world, _fill)
    return world


def _fill(world: World) -> None:
    for n in range(12):
        world.say(f"about a-{n}", id=f"a-{n}", thread="t-1")
        world.say(f"about b-{n}", id=f"b-{n}", thread="t-2")
        world.settle()
    world.om.force_reflect("harold")
    world.settle()
    for n in range(12, 20):
        world.say(f"about a-{n}", id=f"a-{n}", thread="t-1")
        world.settle()


@pytest.fixture
def walk(ask):
    """Every entry of a list of Harold's, page by page."""

    def entries(path, **params):
        found, cursor = [], None
        while True:
            page = ask("GET", path, params={**params, **({"cursor": cursor} if cursor else {})}).json()
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                return found

    return entries


@pytest.fixture
def publish(world):
    def tell(*kinds, resource="harold"):
        told = [Event(kind=kind, resource=resource) for kind in kinds]
        world.services.run(event_stream.publish(world.services.keys, told, None, 0))

    return tell


@pytest.fixture
def threads(monkeypatch):
    """In which threads bodies were taken up, and contexts shown."""
    seen = []

    def noting(work):
        return lambda *given: seen.append(threading.current_thread().name.split("_")[0]) or work(*given)

    monkeypatch.setattr(messages, "take", noting(messages.take))
    monkeypatch.setitem(context_forms.FORMS, "openai", noting(context_forms.FORMS["openai"]))
    return seen


@pytest.fixture
def narrow(settings, ring):
    """An app with room for little, and somebody with a key."""
    limits = {f"api__{name}_per_key": n for name, n in (("streams", "1"), ("requests", "2"), ("turns", "1"))}
    with serving(settings_of(settings, **limits)) as http:
        yield http, lambda: {"Authorization": f"Bearer {ring.create(['harold'], 'writer')[1]}"}
