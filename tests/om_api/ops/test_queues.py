"""What waits and who works it off, seen at once; a broker that cannot be asked hides nothing else."""

import time

import pytest
from world import SMALL

from om_api import load_settings
from om_api.ops.queues import look


@pytest.fixture
def settings(server_client, server_url, prefix):
    """A store of the test's own, and a broker that nobody can ask."""
    broker = "redis://:s3cret@127.0.0.1:1/0"
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_BROKER_URL": broker})


def test_what_is_due_is_shown_though_the_broker_is_away(settings, server_client, prefix):
    now = int(time.time() * 1000)
    server_client.zadd(f"{prefix}:due:observe", {"harold": now - 9_000, "ada": now + 60_000})
    found = look(settings)

    observe = found.due[0]
    assert (observe.name, observe.due, observe.waiting) == ("observe", 1, 1)
    assert 9 <= observe.oldest < 60
    assert found.unacked is None
    assert found.problem.startswith("the broker cannot be asked: ")
    assert "OM_BROKER_URL" in found.problem
    assert "s3cret" not in found.problem
