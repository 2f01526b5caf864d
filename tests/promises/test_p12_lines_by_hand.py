"""P12: what a person adds, corrects or pins counts: it is read at once, no reflection takes it away, and it can be taken back."""

import pytest
from world import World

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
    world.om.force_observe(thread, "harold")
    world.settle()
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


def test_a_pinned_line_survives_every_reflection(house):
    _observed(house, "My flight to Oslo is on Friday")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    assert house.om.pin(line, "harold", "t-1", by="lotte").outcome is Outcome.PINNED

    for _ in range(3):
        generation = _reflected(house)

        assert line.strip() in map(str.strip, generation.text.split("\n"))
        assert generation.tokens == house.services.count(generation.text)
        assert "Oslo" in _read(house)
        _observed(house, "The weather is fine today")
    assert house.om.verify() == []


def test_a_line_that_was_unpinned_may_go(house):
    _observed(house, "My flight to Oslo is on Friday")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    pin = house.om.pin(line, "harold", "t-1").pin
    assert [found.id for found in house.om.pins("harold")] == [pin.id]

    assert house.om.unpin(pin.id, "harold").outcome is Outcome.UNPINNED
    assert house.om.pins("harold") == []
    assert "Oslo" not in _reflected(house).text


def test_what_is_added_is_read_at_once_and_reflected_as_everything_is(house):
    added = house.om.add_line("User never flies", "harold", "t-1", priority=5, by="lotte")

    assert "* 🔴 User never flies" in _read(house)
    (own,) = house.om.observations("harold", "t-1")
    assert (own.id, own.origin, own.by, own.message_ids) == (added.observation_id, "added", "lotte", ())
    assert "never flies" in _reflected(house, f"<observations>\n{own.text}\n</observations>").text
    assert house.om.verify() == []


def test_what_was_added_is_taken_back(house):
    added = house.om.add_line("User never flies", "harold", "t-1")

    assert house.om.undo_line(added.observation_id, "harold").outcome is Outcome.CLEARED
    assert "never flies" not in _read(house)
    assert house.om.verify() == []


def test_a_corrected_line_is_read_and_its_correction_is_undone(house):
    own = _observed(house, "I live in Oslo")
    line = next(line for line in own.text.split("\n") if "Oslo" in line)
    before = _read(house)
    done = house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1", by="lotte")

    assert done.outcome is Outcome.CORRECTED
    assert "Bergen" in _read(house)
    assert "I live in Oslo" not in _read(house)
    assert house.om.observations("harold", "t-1")[-1].id == own.id

    assert house.om.undo_line(own.id, "harold", by="lotte").outcome is Outcome.CORRECTED
    assert _read(house) == before
    assert house.om.verify() == []


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
    assert house.om.generations("harold", "t-1")[-1].text == first.text
    assert house.om.verify() == []


def test_a_pinned_line_stays_pinned_as_it_was_corrected(house):
    own = _observed(house, "I live in Oslo")
    line = next(line for line in own.text.split("\n") if "Oslo" in line)
    house.om.pin(line, "harold", "t-1")
    house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")

    with pytest.raises(InvalidInputError, match="pinned line"):
        house.om.correct_line(line.replace("Oslo", "Bergen"), "", "harold", "t-1")
    assert "Bergen" in _reflected(house).text
    assert "Oslo" not in _read(house)


def test_a_restored_text_holds_what_was_pinned_since(house):
    _observed(house, "I live in Oslo")
    _reflected(house, "<observations>\n* 🔴 User lives in Oslo\n</observations>")
    _observed(house, "My cat is called Miez")
    cat = next(line for line in house.om.observations("harold", "t-1")[-1].text.split("\n") if "Miez" in line)
    _reflected(house, f"<observations>\n* 🔴 User lives in Oslo\n{cat}\n</observations>")
    house.om.pin(cat, "harold", "t-1")
    house.om.correct_line("User lives in Oslo", "User lives in Bergen", "harold", "t-1")

    assert house.om.restore("harold", 2, "t-1") is Outcome.RESTORED
    assert _read(house).count("Miez") == 1
    assert house.om.restore("harold", 0, "t-1") is Outcome.RESTORED
    assert _read(house).count("Miez") == 1
    assert house.om.verify() == []


def test_what_stands_nowhere_cannot_be_pinned(house):
    _observed(house, "I live in Oslo")
    with pytest.raises(NotFoundError, match="add it first"):
        house.om.pin("User owns a boat", "harold", "t-1")


@pytest.mark.parametrize("how", ["forget", "erase", "clear", "clear thread"])
def test_what_was_pinned_or_corrected_is_removed_with_all_that_is_kept_of_it(house, how):
    own = _observed(house, "I live in Oslo")
    line = next(line for line in own.text.split("\n") if "Oslo" in line)
    house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")
    house.om.pin(line.replace("Oslo", "Bergen"), "harold", "t-1")
    {
        "forget": lambda: house.om.forget(own.id, "harold"),
        "erase": lambda: (house.om.erase("harold", matching="Oslo"), house.om.erase("harold", matching="Bergen")),
        "clear": lambda: house.om.clear("harold"),
        "clear thread": lambda: house.om.clear("harold", "t-1"),
    }[how]()

    held = repr(list(house.client.scan_iter(f"{house.prefix}*"))) + b"".join(house.om.export_memory("harold")).decode()
    assert "Oslo" not in held
    assert "Bergen" not in held
    assert house.om.pins("harold") == []
    assert house.om.verify() == []


def test_events_say_who_did_it_and_never_what_it_says(house):
    own = _observed(house, "I live in Oslo")
    line = next(line for line in own.text.split("\n") if "Oslo" in line)
    house.om.add_line("User never flies", "harold", "t-1", by="lotte")
    house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1", by="lotte")
    pin = house.om.pin(line.replace("Oslo", "Bergen"), "harold", "t-1", by="bram").pin
    house.om.unpin(pin.id, "harold", by="bram")
    told = house.om.events("0", count=1000).events

    kinds = ["line_added", "line_corrected", "pinned", "unpinned"]
    assert [(event.kind, event.by) for event in told if event.kind in kinds] == list(
        zip(kinds, ["lotte", "lotte", "bram", "bram"], strict=True)
    )
    assert "Bergen" not in repr(told)


def test_a_memory_that_moves_there_and_back_keeps_its_pins(house):
    _observed(house, "I live in Oslo")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    pin = house.om.pin(line, "harold", "t-1").pin
    was = house.settings.for_agent("harold").scope
    for to in ("thread" if was == "resource" else "resource", was):
        assert house.om.migrate_scope("harold", to) is Outcome.ACTIVATED

        assert house.om.pins("harold") == [pin]
        assert house.om.verify() == []


def test_an_exported_memory_brings_its_pins(house):
    _observed(house, "I live in Oslo")
    line = next(line for line in house.om.observations("harold")[0].text.split("\n") if "Oslo" in line)
    pin = house.om.pin(line, "harold", "t-1").pin
    file = b"".join(house.om.export_memory("harold"))
    house.om.clear("harold")
    house.om.import_memory([file])

    assert house.om.pins("harold") == [pin]
    assert house.om.verify() == []
