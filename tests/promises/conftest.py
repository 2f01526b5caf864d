import pytest
from driven import Driven
from world import World


@pytest.fixture(autouse=True)
def face(monkeypatch):
    """Promises are kept by the asyncio client; the blocking one is generated from it (tests/om_api/client/test_blocking_client.py)."""
    monkeypatch.setattr(World, "face", Driven)
    yield World.face
    Driven.close_all()


@pytest.fixture
def world(client, prefix) -> World:
    """A client and workers with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)
