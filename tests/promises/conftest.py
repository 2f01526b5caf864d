import pytest
from driven import Driven
from world import World


@pytest.fixture(autouse=True)
def face(monkeypatch):
    """Promises are tested with the asyncio client; the blocking one is generated from it."""
    monkeypatch.setattr(World, "face", Driven)
    yield World.face
    Driven.close_all()


@pytest.fixture
def world(client, prefix) -> World:
    """A client and workers with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)])
def archive_url(request: pytest.FixtureRequest, tmp_path) -> str:
    """The address of an archive that nobody has laid out."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/archive.db"
    return request.getfixturevalue("postgres").empty_database()
