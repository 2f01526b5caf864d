from typing import Any

import pytest
from world import World


@pytest.fixture
def world(client: Any, prefix: str) -> World:
    return World(client, prefix)
