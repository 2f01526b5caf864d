"""P12: what a person adds, corrects or pins counts: it is read at once, no reflection takes it away, and it can be taken back."""

import pytest
from world import World, contents

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

FORGETFUL = "<observations>\nDate: Nov 20, 2026\n* 🟡 (09:00) Something else was talked about\n</observations>"


@pytest.fixture(params=["resource", "thread"])
def house(request, client, prefix) -> World:
    return World(client, prefix, scope=request.param, observation_threshold="100000", message_threshold="100000")


def _observed(world, *texts, thread="t-1"):
    world.say(*texts, thread=thread)
    world.observe_now(thread)
    return world.om.observations("harold", thread)[-1]


def _reflected(world, reply=None):
    """A reflection by a model that forgets everything, or says something of its own."""
    usual, world.model = world.model, Scripted(*[reply or FORGETFUL] * 8)
    assert world.om.force_reflect("harold", "t-1") is Outcome.BUSY
    world.settle()
    world.model = usual
    return world.om.generations("harold", "t-1")[-1]


def _read(world, thread="t-1"):
    return world.context(thread).text


def test_a_pinned_line_survives_every_reflection_until_it_is_unpinned(house):
    _observed(house, "My flight to Oslo is on Friday")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    done = house.om.pin(line, "harold", "t-1", by="lotte")
    assert (done.outcome, [found.id for found in house.om.pins("harold")]) == (Outcome.PINNED, [done.pin.id])
    with pytest.raises(NotFoundError, match="add it first"):
        house.om.pin("User owns a boat", "harold", "t-1")
    for _ in range(2):
        generation = _reflected(house)
        assert line.strip() in map(str.strip, generation.text.split("\n"))
        assert generation.tokens == house.services.count(generation.text)
        assert "Oslo" in _read(house)
        _observed(house, "The weather is fine today")
    assert house.om.unpin(done.pin.id, "harold").outcome is Outcome.UNPINNED
    assert house.om.pins("harold") == []
    assert "Oslo" not in _reflected(house).text
    assert house.om.verify() == []


def test_what_is_added_is_read_at_once_reflected_as_everything_is_and_taken_back(house):
    undone = house.om.add_line("User owns a boat", "harold", "t-1")
    assert house.om.undo_line(undone.observation_id, "harold").outcome is Outcome.CLEARED
    added = house.om.add_line("User never flies", "harold", "t-1", priority=5, by="lotte")
    assert "* 🔴 User never flies" in _read(house)
    assert "boat" not in _read(house)
    (own,) = house.om.observations("harold", "t-1")
    assert (own.id, own.origin, own.by, own.message_ids) == (added.observation_id, "added", "lotte", ())
    assert "never flies" in _reflected(house, f"<observations>\n{own.text}\n</observations>").text
    (told,) = [event for event in house.om.events("0", count=1000).events if event.kind == "line_added"][1:]
    assert ((told.by, "flies" in repr(told)), house.om.verify()) == (("lotte", False), [])


def test_a_reflection_is_corrected_as_a_generation_of_its_own_which_restore_undoes(house):
    _observed(house, "I live in Oslo")
    first = _reflected(house, "<observations>\n* 🔴 User lives in Oslo\n* 🟡 User has a cat\n</observations>")
    done = house.om.correct_line("User lives in Oslo", "User lives in Bergen", "harold", "t-1", by="lotte")
    made = house.om.generations("harold", "t-1")[-1]
    assert (done.generation, made.n, made.origin, made.by) == (2, 2, "correction", "lotte")
    assert made.text == "* 🔴 User lives in Bergen\n* 🟡 User has a cat"
    house.om.correct_line("User has a cat", "", "harold", "t-1")
    assert house.om.generations("harold", "t-1")[-1].text == "* 🔴 User lives in Bergen"
    assert house.om.restore("harold", 1, "t-1") is Outcome.RESTORED
    assert (house.om.generations("harold", "t-1")[-1].text, house.om.verify()) == (first.text, [])


def test_a_pinned_line_stays_pinned_as_it_was_corrected(house):
    own = _observed(house, "I live in Oslo")
    line = next(line for line in own.text.split("\n") if "Oslo" in line)
    house.om.pin(line, "harold", "t-1")
    house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")
    with pytest.raises(InvalidInputError, match="pinned line"):
        house.om.correct_line(line.replace("Oslo", "Bergen"), "", "harold", "t-1")
    assert "Bergen" in _reflected(house).text
    assert "Oslo" not in _read(house)


def test_what_was_pinned_or_corrected_is_removed_with_all_that_is_kept_of_it(house):
    removals = [lambda own: house.om.forget(own.id, "harold"),
        lambda own: (house.om.erase("harold", matching="Oslo"), house.om.erase("harold", matching="Bergen")),
        lambda own: house.om.clear("harold"), lambda own: house.om.clear("harold", "t-1")]  # fmt: skip
    for n, remove in enumerate(removals):
        own = _observed(house, f"I live in Oslo, at number {n}")
        line = next(line for line in own.text.split("\n") if "Oslo" in line)
        house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")
        house.om.pin(line.replace("Oslo", "Bergen"), "harold", "t-1")
        remove(own)
        held = repr(contents(house.client, f"{house.prefix}:{{harold}}*"))
        held += b"".join(house.om.export_memory("harold")).decode()
        assert (("Oslo" in held, "Bergen" in held), house.om.pins("harold")) == ((False, False), []), n
        assert house.om.verify() == [], n


def test_a_memory_that_moves_there_and_back_or_comes_from_a_file_keeps_its_pins(house):
    _observed(house, "I live in Oslo")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    pin = house.om.pin(line, "harold", "t-1").pin
    was = house.settings.for_agent("harold").scope
    for to in ("thread" if was == "resource" else "resource", was):
        assert house.om.migrate_scope("harold", to) is Outcome.ACTIVATED
        assert (house.om.pins("harold"), house.om.verify()) == ([pin], [])
    file = b"".join(house.om.export_memory("harold"))
    house.om.clear("harold")
    house.om.import_memory([file])
    assert house.om.pins("harold") == [pin]
