"""How long the oldest work of a memory has been waiting, as its statistics tell it."""

import pytest
from world import World

from om_api.domain.values import Scope, new_id
from om_api.store.memory import scope_state, seal

HOUR_S = 3_600


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def marked(world, seconds, looked=None):
    """Harold is due since so many seconds; somebody looked at him so many seconds ago."""
    now = world.om.ping()
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": now - seconds * 1000})
    if looked is not None:
        world.client.zadd(f"{world.prefix}:resources", {"harold": now - looked * 1000})
    return world.om.stats("harold").lag


def test_a_memory_with_nothing_to_do_lags_by_nothing(world):
    world.say("hello")
    world.settle()

    assert world.om.stats("harold").lag == 0


def test_what_is_due_lags_since_it_became_due(world):
    assert 100 <= marked(world, 100) < 110


def test_what_is_due_later_does_not_lag(world):
    assert marked(world, -100) == 0


def test_an_urgent_request_lags_since_it_was_made_though_it_stands_an_hour_ahead(world):
    """Catches an alert at every urgent context: its entry is written an hour before its time, so as to come first."""
    assert 5 <= marked(world, HOUR_S + 5, looked=60) < 15


def test_what_nobody_took_up_for_hours_lags_for_hours(world):
    assert 2 * HOUR_S <= marked(world, 2 * HOUR_S, looked=3 * HOUR_S) < 2 * HOUR_S + 10


@pytest.mark.parametrize("paused", [False, True])
def test_a_chunk_that_waits_to_be_observed_lags_since_it_was_sealed(world, paused):
    world.say("hello")
    ((member, _),) = world.services.run(scope_state.raw_messages(world.services.keys, "harold", ["t-1"]))["t-1"]
    chunk = new_id(world.om.ping() - 60_000)
    world.services.run(seal.seal(world.services.keys, Scope("harold"), "", "t-1", [member], 100, chunk))
    world.client.delete(f"{world.prefix}:due:observe")
    if paused:
        world.om.pause("harold")

    assert (60 <= world.om.stats("harold").lag < 70) is not paused
