"""The HTTP API as a client meets it: a real app on a real store, with workers that work when a test says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import redis
from starlette.testclient import TestClient
from world import SMALL, World

from om_api import load_settings
from om_api.http import make_app
from om_api.key_ring import KeyRing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from om_api.settings import Settings

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


@pytest.fixture
def client(server_url: str, prefix: str) -> Iterator[Any]:
    """A client of the real server; the test's keys are gone afterwards."""
    with redis.Redis.from_url(server_url) as real:
        yield real
        if left := list(real.scan_iter(f"{prefix}*", count=1000)):
            real.unlink(*left)


@pytest.fixture
def settings(server_url: str, prefix: str) -> Settings:
    """What the app is told."""
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


@pytest.fixture
def world(client: Any, prefix: str) -> World:
    """A client and workers of the same store."""
    return World(client, prefix)


@pytest.fixture
def ring(settings: Settings, client: Any) -> KeyRing:
    """Where keys are made."""
    return KeyRing(settings, client=client)


@pytest.fixture
def app(settings: Settings) -> Iterator[TestClient]:
    """Somebody without a key."""
    with TestClient(make_app(settings, timeout=0.5), raise_server_exceptions=False) as http:
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
        given = [{"id": name, "role": "user", "content": f"about {name}", "tokens": 100, **fields} for name in names]
        return ask("POST", f"{HAROLD}/threads/{thread}/messages", json={"messages": given})

    return post
