import pytest
from driven import Driven
from world import World


@pytest.fixture(autouse=True)
def face(monkeypatch):
    """Promises are tested with the asyncio client; the blocking one is generated from it."""
    monkeypatch.setattr(World, "face", Driven)
    yield World.face
    Driven.close_all()
