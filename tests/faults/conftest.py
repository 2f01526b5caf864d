import pytest
from world import World


@pytest.fixture
def house(client, prefix) -> World:
    """A client and workers with small thresholds."""
    return World(client, prefix)


@pytest.fixture
def world(house) -> World:
    return house
