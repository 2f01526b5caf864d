import pytest
from world import World


@pytest.fixture
def house(world) -> World:
    return world
