"""What an app is tested on, the API's as the pages': a real store, workers of it that work when a test says so, and keys."""

from typing import Any

import pytest
from key_ring import KeyRing
from world import SMALL, World

from om_api import load_settings
from om_api.settings import Settings


@pytest.fixture
def client(server_client: Any) -> Any:
    """A client of the real server; the test's keys are gone afterwards."""
    return server_client


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
    return KeyRing(settings, client)
