"""`om api` as a process of a test's own, with the keys and sessions of whoever looks at its pages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx2
import redis
from key_ring import KeyRing
from processes import OM, inherited
from servers import Daemon
from world import SMALL, World

from om_api.domain.api_keys import ApiKey, Token
from om_api.store.driver.connection import connected
from om_api.store.fleet import sessions
from om_api.store.memory.keys import Keys

CALM = {**SMALL, "OM_OBSERVE_IDLE_AFTER": "365d"}  # what was said long ago is not idle


class Api(Daemon):
    """`om api` on a port that it keeps when it is started again."""

    starts_s = 240.0  # however slow the machine

    def __init__(self, folder: Path, settings: Mapping[str, str], *options: str) -> None:
        super().__init__(folder, OM, "api")
        self._command += ["--port", str(self.port), *options]
        self.environ = {**inherited(), **settings}
        self.url = f"http://127.0.0.1:{self.port}"

    def answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/healthz", timeout=5).is_success
        except httpx2.TransportError:
            return False


class Site:
    """A store with its workers in this process, and the server of its pages."""

    def __init__(self, folder: Path, url: str, prefix: str, *options: str, model: Any = None, **changed: str) -> None:
        self.environ = {**CALM, **changed, "OM_REDIS_URL": url, "OM_PREFIX": prefix}
        self.api = Api(folder, self.environ, *options)
        self.client = redis.Redis.from_url(url)
        small = {name.removeprefix("OM_").lower(): text for name, text in {**CALM, **changed}.items()}
        self.world = World(self.client, prefix, model, **small)
        self.ring = KeyRing(self.world.settings, self.client)
        self._url, self._prefix = url, prefix

    def __enter__(self) -> Self:
        self.api.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.api.__exit__()
        self.world.om.close()
        if left := list(self.client.scan_iter(f"{self._prefix}*", count=1000)):
            self.client.unlink(*left)
        self.client.close()

    def key(self, role: str = "operator", *resources: str, **options: Any) -> tuple[ApiKey, Token]:
        """A new key; of every agent unless some are named."""
        return self.ring.create(resources or ("*",), role, **options)

    def session(self, token: Token) -> str:
        """What the cookie of a browser holds that signed in with a key."""
        with connected(self._url) as connection:
            return connection.run(sessions.begin(Keys(self._prefix), token.proof))
