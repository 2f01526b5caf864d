"""Ids are known as long as anything of their messages is kept, and no longer."""

import json
import time

import pytest

from om_api.domain.values import Scope
from om_api.store.memory import known


@pytest.fixture
def grown(world):
    """A memory that has observed the beginning of m-1; the rest of it is raw."""
    world.say("one", id="m-1")
    world.observe_now()
    world.say("one and more", id="m-1")
    return world


def _days_go_by(world):
    time.sleep(0.002)
    return world.services.run(known.tidy(world.services.keys, Scope("harold"), ["t-1"], 0))


def test_a_grown_message_is_known_while_its_rest_is_raw(grown):
    """Breaks when the day of its beginning is over, and all of it is accepted anew beside its rest."""
    _days_go_by(grown)
    grown.say("one and more", id="m-1")
    assert (grown.covering(), grown.om.verify()) == (["m-1", "m-1+1"], [])


def test_a_grown_message_is_known_as_long_as_its_rest_once_that_is_sealed(grown):
    grown.observe_now()
    names = ["m-1", "m-1+1"]
    found = grown.services.run(known.recognise(grown.services.keys, "harold", "t-1", names))
    assert (found["m-1"].day, _days_go_by(grown)) == (found["m-1+1"].day, 2)


def test_a_rest_that_is_sealed_after_its_message_was_cleared_makes_nothing_known(grown):
    grown.client.delete(grown.services.keys.of("harold").known("t-1"))
    grown.observe_now()
    assert list(grown.services.run(known.recognise(grown.services.keys, "harold", "t-1", ["m-1"]))) == []


def _moved(world):
    world.om.migrate_scope("harold", "thread")
    return Scope("harold", "t-1")


def _imported(world):
    file = [*world.om.export_memory("harold")]
    world.om.clear("harold")
    world.om.import_memory(file)
    return Scope("harold")


@pytest.mark.parametrize("made_anew", [_moved, _imported])
def test_a_memory_that_was_made_anew_has_a_day_on_which_ids_are_looked_at(made_anew, world):
    """Breaks when that day stands in the record that a move or an import replaces: nobody ever looks again."""
    world.say("one", "two")
    world.observe_now()
    scope = made_anew(world)
    world.sweep()
    tidy_at = world.client.hget(world.services.keys.of("harold").record(scope), "tidy_at")
    assert int(tidy_at or 0) > time.time() * 1000


def test_what_an_older_version_accepted_twice_becomes_one_message_and_an_entry(client, prefix, world):
    """Breaks when adoption throws one of two messages of one id out: the second one says something else."""
    base, now = f"{prefix}:{{harold}}", time.time() * 1000
    world.say("the first", id="X", timestamp=time.time() - 1_300)
    client.delete(f"{base}:known:t-1")
    client.hdel(f"{base}:tokens", "*ids")  # as an older version leaves it
    second = {"id": "X", "role": "user", "content": "the second", "tokens": 100}
    client.zadd(f"{base}:messages:t-1", {json.dumps(second): now})
    for name, n in (("#t-1", 1), ("t-1", 100), ("*", 100)):
        client.hincrby(f"{base}:tokens", name, n)
    client.zadd(f"{base}:messages:t-1", {json.dumps({"id": "Y", "role": "user", "content": "plain"}): now})
    world.sweep()
    assert {message.content for message in world.context().messages} == {"the first", "plain"}
    assert ([entry.kind for entry in world.om.rejected("harold")], world.om.verify()) == (["changed"], [])
