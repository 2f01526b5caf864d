"""Lines added, corrected and pinned: one script each, which changes nothing where the memory is another than the one read."""

import pytest
from scene import (
    AT,
    HAROLD,
    TTL,
    activate,
    activated,
    breaches,
    interrupted,
    moving,
    nothing_changes,
    observed,
    ready,
    record,
    reflect,
    reflecting,
    restored,
    restoring,
    retry,
    words,
)
from stores import empty, fresh

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError, StoreError
from om_api.domain.notes.pins import pins_of
from om_api.domain.values import Observation, Outcome, Scope
from om_api.store.lines import correcting
from om_api.store.lines.correcting import By, Corrector, Keeping
from om_api.store.lines.pinning import MOST_PINS, Pinned, pin, unpin
from om_api.store.memory import clear, reading, scope_state
from om_api.store.memory import reflect as reflect_steps

LOTTE = By("lotte", AT)


def corrector(store, scope=HAROLD):
    return Corrector(store.keys, scope, words, LOTTE, Keeping(100, TTL))


def correcting_line(store, was, now, thread=None, observation=None):
    return corrector(store).correct(was, now, thread, observation)


def correct(store, was, now, **where):
    return store.run(correcting_line(store, was, now, **where))


def made(name="n1", thread="t1", text="* 🟡 added"):
    return Observation(id=name, thread_id=thread, text=text, tokens=2, origin="added", by="lotte", created_at=AT)


def texts(store, scope=HAROLD):
    return {each.observation.id: each.observation.text for each in store.run(reading.observations(store.keys, scope))}


def test_a_line_begins_a_memory_once_and_stands_among_what_was_observed(store):
    for scope in fresh(store, [HAROLD, Scope("harold", "t1")]):
        assert store.run(correcting.add(store.keys, scope, made())) is Outcome.ADDED
        assert texts(store, scope) == {"n1": "* 🟡 added"}
        assert (record(store, scope).observation_tokens, record(store, scope).observation_count) == (2, 1)
        assert breaches(store) == []
    empty(store)
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(StoreError, match="repeat"):
        store.run(correcting.add(store.keys, Scope("harold", "t1"), made()))
    store.run(correcting.add(store.keys, HAROLD, made()))
    with nothing_changes(store):  # repeated after its reply was lost
        assert store.run(correcting.add(store.keys, HAROLD, made())) is Outcome.ADDED
    observed(store, "o2", 2)
    assert list(texts(store)) == ["o1", "n1", "o2"]
    assert breaches(store) == []


def test_a_correction_stands_where_the_line_stood_and_says_what_it_was(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    store.run(reflect_steps.draft(store.keys, HAROLD, record(store).epoch, 0, b"thought", TTL))
    done = correct(store, "noted o1", "seen o1 by Lotte")

    assert (done.outcome, done.observation_id, done.now) == (Outcome.CORRECTED, "o1", "* seen o1 by Lotte")
    first, second = store.run(reading.observations(store.keys, HAROLD))
    assert (first.observation.id, first.observation.tokens, second.observation.id) == ("o1", 5, "o2")
    (kept,) = first.observation.corrections
    assert (kept.was, kept.now, kept.text, kept.by, kept.at) == ("* noted o1", done.now, "* noted o1", "lotte", AT)
    assert store.run(scope_state.look(store.keys, HAROLD)).draft is None
    assert breaches(store) == []


def test_corrections_are_taken_back_newest_first_and_three_are_kept(store):
    observed(store, "o1", 1)
    for n in range(5):
        correct(store, "* noted o1" if n == 0 else f"* say {n - 1}", f"* say {n}")
    for n in (3, 2, 1):
        assert store.run(corrector(store).undo("o1")).now == f"* say {n}"

    assert store.run(corrector(store).undo("o1")) is None
    assert texts(store) == {"o1": "* say 1"}
    assert breaches(store) == []


def test_a_line_that_is_not_there_or_pinned_cannot_be_corrected(store):
    observed(store, "o1", 1)
    store.run(pin(store.keys, HAROLD, "noted o1", None, LOTTE, 100, words))
    with nothing_changes(store):
        for was in ("noted", "", "Date: Nov 2, 2026", "turn 1"):
            with pytest.raises(NotFoundError, match="om context"):
                correct(store, was, "other")
        with pytest.raises(InvalidInputError, match="Unpin it first"):
            correct(store, "noted o1", "")
        assert correct(store, "* noted o1", "* noted o1").outcome is Outcome.REST


def test_of_several_lines_one_must_be_named(store):
    for n in (1, 2):
        observed(store, f"o{n}", n, thread=f"t{n}")
        correct(store, f"noted o{n}", "the same")
    with nothing_changes(store), pytest.raises(InvalidInputError, match=r"observation o1: .*observation o2: "):
        correct(store, "the same", "other")

    correct(store, "the same", "of t2", thread="t2")
    correct(store, "the same", "of o1", observation="o1")
    assert texts(store) == {"o1": "* of o1", "o2": "* of t2"}


def test_what_happened_meanwhile_is_looked_at_again(store):
    """Breaks without the member, the epoch or the pins: what the other one wrote would be lost under what was read before."""
    happens = {
        "activated": lambda: activate(store, "o3", by="a3"),
        "reflected": lambda: reflect(store, "o2", text="* all"),
        "corrected": lambda: correct(store, "noted o2", "of two"),
        "pinned": lambda: store.run(pin(store.keys, HAROLD, "noted o1", None, LOTTE, 100, words)),
    }
    for meanwhile in fresh(store, happens):
        observed(store, "o1", 1)
        observed(store, "o2", 2)
        ready(store, "o3", 3)
        done = store.run(interrupted(correcting_line(store, "noted o1", "of one"), "correct", happens[meanwhile]))
        assert done.outcome is Outcome.CORRECTED, meanwhile
        assert texts(store)["o1"] == "* of one", meanwhile
        assert breaches(store) == [], meanwhile


def test_a_reflection_thought_of_the_wrong_line_is_refused(store):
    """Time 0: o1 is read. Time 5: it is corrected. Time 9: the reflection that holds the wrong line would be committed."""
    observed(store, "o1", 1)
    late = reflecting(store, "o1", text="* noted o1")
    correct(store, "noted o1", "of one")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


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


def test_what_stands_nowhere_or_is_too_much_cannot_be_pinned(store):
    activated(store)
    with pytest.raises(NotFoundError):  # a placeholder is no line
        store.run(pinning(store, "none"))
    retry(store)
    empty(store)
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(NotFoundError, match="add it first"):
        store.run(pinning(store, "noted o2"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="3 tokens would be pinned"):
        store.run(pinning(store, "noted o1", most=2))
    reflect(store, "o1", text="\n".join(f"* line {n}" for n in range(MOST_PINS + 1)))
    for n in range(MOST_PINS):
        store.run(pinning(store, f"line {n}"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="unpin one first"):
        store.run(pinning(store, f"line {MOST_PINS}"))


def test_a_pin_that_comes_meanwhile_refuses_what_was_planned_without_it(store):
    """Breaks without `pinned` in reflect.lua: time 0 o1 is read, time 9 its line is pinned, time 12 the line would be gone."""
    planned = {
        "reflect": lambda: reflecting(store, "o1"),
        "forget": lambda: forgetting(store),
        "migrate": lambda: moving(store),
        "restore": lambda: restoring(store, 0),
    }
    for verb in fresh(store, planned):
        observed(store, "o1", 1)
        line = "noted o1"
        if verb == "restore":
            reflect(store, "o1", text="* all")
            line = "all"
        late = interrupted(planned[verb](), verb, lambda line=line: store.run(pinning(store, line)))
        assert store.run(late) is Outcome.SUPERSEDED, verb
        assert pinned(store) == [f"* {line}"], verb
        if verb == "restore":
            assert restored(store, 0) is Outcome.RESTORED
            assert store.run(reading.generations(store.keys, HAROLD, newest=1))[-1].text == "* all"
        if verb == "migrate":
            assert store.run(moving(store)) is Outcome.ACTIVATED
        assert breaches(store) == [], verb


def test_a_line_that_goes_while_it_is_pinned_is_not_pinned(store):
    """Breaks without the generation in pin.lua: time 0 the line is found, time 1 it is condensed away, time 2 it is pinned."""
    for goes in fresh(store, [lambda: reflect(store, "o1", text="* other"), lambda: store.run(forgetting(store))]):
        observed(store, "o1", 1)
        with pytest.raises(NotFoundError):
            store.run(interrupted(pinning(store, "noted o1"), "pin", goes))
        assert breaches(store) == []


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
