"""A forget read the observation first and the epoch later: after a move in between another one had its seq, and went."""

import pytest
from scene import before_step
from world import World

from om_api import InvalidInputError, Outcome
from om_api.client.core import Core


@pytest.fixture
def house(client, prefix):
    """A memory of two threads, whose observations a move numbers anew: the first of them was forgotten."""
    house = World(client, prefix)
    for n in range(24):
        house.say(f"message {n}", thread=f"t-{n % 2}")
        house.settle()
    house.om.forget(house.om.observations("harold")[0].id, "harold")
    return house


@pytest.mark.parametrize("n", range(5))
def test_nothing_but_what_was_named_is_forgotten(house, n):
    """Time 0: o5 is found, at seq 5. Time 1: there and back, o6 is at seq 5. Time 2: what is at seq 5 is removed."""
    before = {each.id for each in house.om.observations("harold")}
    named = house.om.observations("harold")[1].id
    forgetting = before_step(
        Core(house.settings, len).owning.forget(named, "harold"),
        n,
        lambda: [house.om.migrate_scope("harold", to) for to in ("thread", "resource")],
    )
    try:
        done = house.services.run(forgetting)
    except InvalidInputError:
        done = Outcome.SUPERSEDED

    after = {each.id for each in house.om.observations("harold")}
    assert before - after == ({named} if done == "cleared" else set())
    assert house.om.verify() == []
