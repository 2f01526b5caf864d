"""The figures of a short conversation, measured once."""

import json

import pytest
from benches import SMALL, cost


@pytest.fixture(scope="session")
def found():
    return json.loads(cost(*SMALL, "--json").output)
