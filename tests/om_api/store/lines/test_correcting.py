"""Lines added and corrected: one script each, which changes nothing where the memory is another than the one that was read."""

import pytest
from scene import (
    AT,
    HAROLD,
    TTL,
    activate,
    breaches,
    filled,
    interrupted,
    nothing_changes,
    observed,
    ready,
    record,
    reflect,
    reflecting,
    seal,
    words,
)

from om_api import InvalidInputError
from om_api.domain.errors import NotFoundError, StoreError
from om_api.domain.values import Observation, Outcome, Scope
from om_api.store.lines import correcting
from om_api.store.lines.correcting import By, Corrector, Keeping
from om_api.store.lines.pinning import pin
from om_api.store.memory import reading, scope_state
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


def in_force(store):
    return store.run(reading.generations(store.keys, HAROLD, newest=1))[-1]


@pytest.mark.parametrize("scope", [HAROLD, Scope("harold", "t1")])
def test_a_line_begins_a_memory_where_there_was_none(store, scope):
    assert store.run(correcting.add(store.keys, scope, made())) is Outcome.ADDED

    assert texts(store, scope) == {"n1": "* 🟡 added"}
    assert (record(store, scope).observation_tokens, record(store, scope).observation_count) == (2, 1)
    assert breaches(store) == []


def test_a_line_comes_behind_what_was_observed(store):
    observed(store, "o1", 1)
    store.run(correcting.add(store.keys, HAROLD, made()))
    observed(store, "o2", 2)

    assert list(texts(store)) == ["o1", "n1", "o2"]
    assert breaches(store) == []


def test_a_call_repeated_after_its_reply_was_lost_adds_nothing(store):
    steps = correcting.add(store.keys, HAROLD, made())
    store.run(steps)
    with nothing_changes(store):
        assert store.run(correcting.add(store.keys, HAROLD, made())) is Outcome.ADDED


def test_a_memory_of_another_scope_takes_no_line(store):
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(StoreError, match="repeat"):
        store.run(correcting.add(store.keys, Scope("harold", "t1"), made()))


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


def test_a_line_of_the_reflection_makes_the_next_generation(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text="* one\n* two")
    done = correct(store, "two", "three")

    assert (done.outcome, done.generation) == (Outcome.CORRECTED, 2)
    assert (in_force(store).text, in_force(store).origin, in_force(store).by) == (
        "* one\n* three",
        "correction",
        "lotte",
    )
    assert (record(store).origin, record(store).reflection_tokens) == ("correction", 4)
    assert breaches(store) == []


def test_what_says_so_already_stays(store):
    observed(store, "o1", 1)
    with nothing_changes(store):
        assert correct(store, "* noted o1", "* noted o1").outcome is Outcome.REST


@pytest.mark.parametrize("was", ["noted", "", "Date: Nov 2, 2026", "turn 1"])
def test_a_line_that_is_not_there_cannot_be_corrected(store, was):
    observed(store, "o1", 1)
    with nothing_changes(store), pytest.raises(NotFoundError, match="om context"):
        correct(store, was, "other")


def test_of_several_lines_one_must_be_named(store):
    for n in (1, 2):
        observed(store, f"o{n}", n, thread=f"t{n}")
        correct(store, f"noted o{n}", "the same")
    with nothing_changes(store), pytest.raises(InvalidInputError, match=r"observation o1: .*observation o2: "):
        correct(store, "the same", "other")

    correct(store, "the same", "of t2", thread="t2")
    correct(store, "the same", "of o1", observation="o1")
    assert texts(store) == {"o1": "* of o1", "o2": "* of t2"}


@pytest.mark.parametrize("meanwhile", ["activated", "reflected", "corrected", "pinned"])
def test_what_happened_meanwhile_is_looked_at_again(store, meanwhile):
    """Breaks without the member, the epoch or the pins: what the other one wrote would be lost under what was read before."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    ready(store, "o3", 3)
    happens = {
        "activated": lambda: activate(store, "o3", by="a3"),
        "reflected": lambda: reflect(store, "o2", text="* all"),
        "corrected": lambda: correct(store, "noted o2", "of two"),
        "pinned": lambda: store.run(pin(store.keys, HAROLD, "noted o1", None, LOTTE, 100, words)),
    }[meanwhile]
    done = store.run(interrupted(correcting_line(store, "noted o1", "of one"), "correct", happens))

    assert done.outcome is Outcome.CORRECTED
    assert texts(store)["o1"] == "* of one"
    assert breaches(store) == []


def test_a_reflection_thought_of_the_wrong_line_is_refused(store):
    """Time 0: o1 is read. Time 5: it is corrected. Time 9: the reflection that holds the wrong line would be committed."""
    observed(store, "o1", 1)
    late = reflecting(store, "o1", text="* noted o1")
    correct(store, "noted o1", "of one")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_what_is_observed_meanwhile_is_kept(store):
    """A correction begins a new epoch, as an erasure does: chunks before a model stay what they are."""
    filled(store)
    correct(store, "noted o2", "of two")
    seal(store, "c9", 90)

    assert activate(store, "c4", by="a4") is Outcome.ACTIVATED
    assert breaches(store) == []


def test_a_pinned_line_is_not_taken_out(store):
    observed(store, "o1", 1)
    store.run(pin(store.keys, HAROLD, "noted o1", None, LOTTE, 100, words))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="Unpin it first"):
        correct(store, "noted o1", "")
