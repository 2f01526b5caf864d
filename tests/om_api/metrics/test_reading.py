"""One look at everything that monitoring sees: what workers did is in it, and an empty store is no error."""

from __future__ import annotations

import pytest
from world import World

from om_api.metrics import reading


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def look(world):
    return world.services.run(reading.read(world.settings, world.services.keys))


def test_an_empty_store_has_nothing_to_tell(world):
    found = look(world)

    assert (found.own, found.tiers, found.workers, found.broker) == ({}, {}, 0, None)
    assert set(found.ticks.values()) == {None}
    assert {state.word for state in found.breakers.values()} == {"closed"}
    assert found.now > 1_700_000_000_000


def test_a_memory_that_was_observed_is_counted_and_measured(world):
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    found, stats = look(world), world.om.stats("harold")

    assert found.own.keys() == found.tiers.keys() == {"harold"}
    assert found.own["harold"]["observations"] == found.every["observations"] > 0
    assert found.tiers["harold"].unsealed == stats.message_tokens
    assert found.elsewhere.resources == 1


def test_no_more_breakers_are_read_than_one_look_may(world, monkeypatch):
    monkeypatch.setattr(reading, "MODELS", 1)

    assert len(look(world).breakers) == 1
