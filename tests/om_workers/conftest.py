from __future__ import annotations

import pytest
from world import World


@pytest.fixture
def world(client, prefix) -> World:
    """A house with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)
