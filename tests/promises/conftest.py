import pytest
from conftest import BACKENDS
from driven import Driven
from world import World

FACES = pytest.mark.parametrize("client", [*BACKENDS, "asyncio"], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Every promise is kept by the blocking client, and by the library's asyncio face too."""
    if "client" in metafunc.fixturenames:
        metafunc.definition.add_marker(FACES)


@pytest.fixture(autouse=True)
def face(request, monkeypatch):
    """Which client the tests' houses have: the blocking one, or the asyncio one."""
    if getattr(request.node, "callspec", None) and request.node.callspec.params.get("client") == "asyncio":
        monkeypatch.setattr(World, "face", Driven)
    yield World.face
    Driven.close_all()


@pytest.fixture
def world(client, prefix) -> World:
    """A house with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)
