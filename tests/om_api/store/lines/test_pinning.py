"""Pins: written while the line stands, and taken into account by whoever writes the memory anew."""

import pytest
from scene import (
    AT,
    HAROLD,
    activated,
    breaches,
    clearing_thread,
    entries,
    erasing,
    interrupted,
    moving,
    nothing_changes,
    observed,
    record,
    reflect,
    reflecting,
    restored,
    restoring,
    retry,
    words,
)

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError
from om_api.domain.notes.pins import pins_of
from om_api.domain.values import Outcome
from om_api.store.lines.correcting import By
from om_api.store.lines.pinning import MOST_PINS, Pinned, pin, unpin
from om_api.store.memory import clear, reading

LOTTE = By("lotte", AT)


def pinning(store, line, thread=None, most=1_000):
    return pin(store.keys, HAROLD, line, thread, LOTTE, most, words)


def pinned(store, scope=HAROLD):
    return [each.text for each in pins_of(record(store, scope).pins)]


def forgetting(store, n=0):
    stored = store.run(reading.observations(store.keys, HAROLD))[n]
    return clear.forget(store.keys, HAROLD, record(store).epoch, stored)


def test_a_line_is_pinned_once_and_let_go(store):
    observed(store, "o1", 1)
    done = store.run(pinning(store, "noted o1"))

    assert done.outcome is Outcome.PINNED
    assert (done.pin.text, done.pin.thread, done.pin.by, done.pin.at) == ("* noted o1", "t1", "lotte", AT)
    with nothing_changes(store):
        assert store.run(pinning(store, "* noted o1")) == Pinned(Outcome.REST, done.pin)
    assert store.run(unpin(store.keys, HAROLD, done.pin.id, None)).outcome is Outcome.UNPINNED
    assert pinned(store) == []
    assert store.run(unpin(store.keys, HAROLD, done.pin.id, None)) is None


def test_what_stands_nowhere_cannot_be_pinned(store):
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(NotFoundError, match="add it first"):
        store.run(pinning(store, "noted o2"))


def test_a_placeholder_is_no_line(store):
    activated(store)
    with pytest.raises(NotFoundError):
        store.run(pinning(store, "none"))
    retry(store)
    assert entries(store) == []


def test_there_is_an_end_to_what_is_pinned(store):
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(InvalidInputError, match="3 tokens would be pinned"):
        store.run(pinning(store, "noted o1", most=2))
    lines = "\n".join(f"* line {n}" for n in range(MOST_PINS + 1))
    reflect(store, "o1", text=lines)
    for n in range(MOST_PINS):
        store.run(pinning(store, f"line {n}"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="unpin one first"):
        store.run(pinning(store, f"line {MOST_PINS}"))


def test_a_pin_that_comes_while_a_reflection_is_thought_refuses_it(store):
    """Breaks without `pinned` in reflect.lua: time 0 o1 is read, time 9 its line is pinned, time 12 the line would be gone."""
    observed(store, "o1", 1)
    late = interrupted(reflecting(store, "o1"), "reflect", lambda: store.run(pinning(store, "noted o1")))

    assert store.run(late) is Outcome.SUPERSEDED
    assert pinned(store) == ["* noted o1"]
    assert breaches(store) == []


def test_a_reflection_that_comes_while_a_line_is_pinned_is_seen(store):
    """Breaks without the generation in pin.lua: time 0 the line is found, time 1 it is condensed away, time 2 it is pinned."""
    observed(store, "o1", 1)
    late = interrupted(pinning(store, "noted o1"), "pin", lambda: reflect(store, "o1", text="* other"))
    with pytest.raises(NotFoundError):
        store.run(late)
    assert breaches(store) == []


def test_a_line_that_is_forgotten_while_it_is_pinned_is_not_pinned(store):
    observed(store, "o1", 1)
    late = interrupted(pinning(store, "noted o1"), "pin", lambda: store.run(forgetting(store)))
    with pytest.raises(NotFoundError):
        store.run(late)
    assert breaches(store) == []


def test_a_pin_that_comes_while_an_undo_is_planned_refuses_it(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text="* all")
    late = interrupted(restoring(store, 0), "restore", lambda: store.run(pinning(store, "all")))

    assert store.run(late) is Outcome.SUPERSEDED
    assert restored(store, 0) is Outcome.RESTORED
    assert in_force(store).text == "* all"
    assert breaches(store) == []


def in_force(store):
    return store.run(reading.generations(store.keys, HAROLD, newest=1))[-1]


def test_what_is_forgotten_is_pinned_no_longer_unless_it_stands_elsewhere(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    reflect(store, "o2", text='<thread id="t1">\n* noted o1\n</thread>')
    store.run(pinning(store, "noted o1", thread="t1"))
    store.run(forgetting(store))
    assert pinned(store) == ["* noted o1"]

    observed(store, "o3", 3)
    store.run(pinning(store, "noted o3"))
    store.run(forgetting(store))
    assert pinned(store) == ["* noted o1"]
    assert breaches(store) == []


def test_a_pin_that_comes_while_its_observation_is_forgotten_refuses_that(store):
    observed(store, "o1", 1)
    late = interrupted(forgetting(store), "forget", lambda: store.run(pinning(store, "noted o1")))

    assert store.run(late) is Outcome.SUPERSEDED
    assert breaches(store) == []


def test_what_is_erased_or_cleared_is_pinned_no_longer(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2, thread="t2")
    observed(store, "o3", 3, thread="t3")
    for n in (1, 2, 3):
        store.run(pinning(store, f"noted o{n}"))
    done = store.run(erasing(store, "noted o1"))
    assert [each.lines for each in done.pins] == [("* noted o1",)]
    store.run(clearing_thread(store, "t2"))

    assert pinned(store) == ["* noted o3"]
    assert breaches(store) == []


def test_a_pin_that_comes_while_a_memory_moves_refuses_that(store):
    observed(store, "o1", 1)
    late = interrupted(moving(store), "migrate", lambda: store.run(pinning(store, "noted o1")))

    assert store.run(late) is Outcome.SUPERSEDED
    assert store.run(moving(store)) is Outcome.ACTIVATED
    assert breaches(store) == []
