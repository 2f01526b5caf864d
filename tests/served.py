"""What an app is tested on, the API's as the pages': a real store, workers of it that work when a test says so, and keys."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from key_ring import KeyRing
from starlette.testclient import TestClient
from world import SMALL, World

from om_api import load_settings
from om_api.http import make_app
from om_api.settings import Settings
from om_api.web import with_pages

LOCAL = "http://127.0.0.1:8000"
_IDLE: dict[bool, list[FastAPI]] = {False: [], True: []}
_FILLED: dict[str, tuple[Any, dict[str, tuple[bytes, int]]]] = {}


@contextmanager
def app_of(settings: Settings, *, locked: bool = True, pages: bool = False, timeout: float = 5.0) -> Iterator[FastAPI]:
    """An app with these settings; apps are used again.

    The first request of an app compiles its routes, which takes 0.2 s. An app that a test has finished with is
    given the state and the lifespan of a new one.
    """
    app = made = make_app(settings, locked=locked, timeout=timeout)
    if pages:
        with_pages(made)
    if _IDLE[pages]:
        app = _IDLE[pages].pop()
        app.state, app.router.lifespan_context, app.middleware_stack = made.state, made.router.lifespan_context, None
    yield app
    _IDLE[pages].append(app)


@contextmanager
def serving(
    settings: Settings,
    *,
    locked: bool = True,
    pages: bool = False,
    timeout: float = 5.0,
    base_url: str | None = None,
    **options: Any,
) -> Iterator[TestClient]:
    """A client of such an app."""
    address = base_url or ("http://testserver" if locked and not pages else LOCAL)
    with (
        app_of(settings, locked=locked, pages=pages, timeout=timeout) as app,
        TestClient(app, address, raise_server_exceptions=False, **options) as http,
    ):
        yield http


def filled(name: str, world: World, fill: Callable[[World], Any]) -> Any:
    """Fill a store as `fill` does, which runs once per process: its keys are copied for later tests. What it returned.

    API keys stay as they are.
    """
    client, prefix = world.client, world.prefix
    if name not in _FILLED:
        returned = fill(world)
        _FILLED[name] = (
            returned,
            {key.removeprefix(prefix): (client.dump(key), max(client.pttl(key), 0)) for key in _memory(world)},
        )
        return returned
    if left := _memory(world):
        client.unlink(*left)
    returned, keys = _FILLED[name]
    with client.pipeline(transaction=False) as pipeline:
        for key, (dump, ttl) in keys.items():
            pipeline.restore(f"{prefix}{key}", ttl, dump)
        pipeline.execute()
    return returned


def _memory(world: World) -> list[str]:
    found = [key.decode() for key in world.client.scan_iter(f"{world.prefix}*", count=1000)]
    return [key for key in found if not key.removeprefix(world.prefix).startswith(":keys")]


def settings_of(settings: Settings, **changed: str) -> Settings:
    """The same store, with other settings: `OM_…` by their names without it, in small letters."""
    named = {f"OM_{name.upper()}": text for name, text in changed.items()}
    return load_settings(None, {**SMALL, "OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url, **named})


@pytest.fixture
def settings(server_url: str, prefix: str) -> Settings:
    """What the app is told."""
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


@pytest.fixture
def ring(settings: Settings, client: Any) -> KeyRing:
    """Where keys are made."""
    return KeyRing(settings, client)
