"""Which frameworks the suite is run for: those that ADAPTERS names (see __main__.py); without it nothing here is collected."""

import os
from typing import Any

import pytest
from world import World

from adapters.frameworks import FRAMEWORKS, Framework

ASKED = os.environ.get("ADAPTERS", "").split()
collect_ignore_glob = [] if ASKED else ["test_*.py"]


@pytest.fixture(scope="session", params=ASKED)
def framework(request: pytest.FixtureRequest) -> Framework:
    """A framework of which the newest version is installed."""
    return FRAMEWORKS[request.param]


@pytest.fixture
def world(server_client: Any, prefix: str) -> World:
    """The store that agents talk to, and workers that work when they are told to."""
    return World(server_client, prefix, observation_threshold="40000")  # no reflection: notes name their sources


@pytest.fixture
def environ(server_url: str, prefix: str) -> dict[str, str]:
    """What an agent's environment says of the store."""
    return {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate", "OM_MIN_RECENT_MESSAGES": "0"}
