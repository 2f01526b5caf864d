"""A message was sealed and grew later: when the day of its beginning was over, all of it was accepted anew, beside its rest."""

import time

import pytest
from world import World

from om_api.domain.values import Scope
from om_api.store.memory import known


@pytest.fixture
def house(client, prefix):
    """A memory that has observed the beginning of m-1; the rest of it is raw."""
    house = World(client, prefix)
    house.say("one", id="m-1")
    _observe(house)
    house.say("one and more", id="m-1")
    return house


def _observe(house):
    house.om.force_observe("t-1", "harold")
    house.settle()


def _days_go_by(house):
    """More than any source is kept."""
    time.sleep(0.002)
    return house.services.run(known.tidy(house.services.keys, Scope("harold"), ["t-1"], 0))


def test_it_is_known_while_its_rest_is_raw(house):
    _days_go_by(house)
    house.say("one and more", id="m-1")

    assert house.covering() == ["m-1", "m-1+1"]
    assert house.om.verify() == []


def test_it_is_known_as_long_as_its_rest_once_that_is_sealed(house):
    _observe(house)
    names = ["m-1", "m-1+1"]
    found = house.services.run(known.recognise(house.services.keys, "harold", "t-1", names))

    assert found["m-1"].day == found["m-1+1"].day
    assert _days_go_by(house) == 2


def test_a_rest_that_is_sealed_after_its_message_was_cleared_makes_nothing_known(house):
    key = house.services.keys.of("harold").known("t-1")
    house.client.delete(key)
    _observe(house)

    assert list(house.services.run(known.recognise(house.services.keys, "harold", "t-1", ["m-1"]))) == []
