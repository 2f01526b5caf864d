"""note, stir: what a look decided is written down for the memory that was looked at, and nothing twice."""

import pytest
from scene import HAROLD, call, nothing_changes, push, record, seal

from om_api.domain.values import Outcome
from om_api.store.memory import note as note_steps
from om_api.store.memory import requests, scope_state
from om_api.store.memory.note import Decided


def noting(store, epoch=None, **what):
    note = Decided(what.pop("limits", "{}"), "*wake", what.pop("wake", 50), **what)
    return note_steps.note(store.keys, HAROLD, record(store).epoch if epoch is None else epoch, note)


def test_a_note_says_from_where_on_a_push_is_due(store):
    push(store, 1)

    assert store.run(noting(store)) is Outcome.REST
    assert store.run(scope_state.look(store.keys, HAROLD)).wake == 50


def test_a_note_writes_down_the_limits_in_force(store):
    seal(store, "c1", 1)
    store.run(noting(store, limits='{"a":1}'))
    store.run(noting(store, limits='{"a":2}'))

    assert record(store).limits == '{"a":2}'


@pytest.mark.parametrize(("pushed", "unsealed"), [((1,), b"10"), ((), b"0")])
def test_a_note_replies_what_is_unsealed_and_from_where_on_a_push_is_due(store, pushed, unsealed):
    push(store, *pushed)
    of = store.keys.of("harold")

    assert call(store, "note", [of.record(HAROLD), of.tokens], ["", "", "", "*wake", 50]) == [b"noted", unsealed, b"50"]


def test_a_note_creates_neither_record_nor_counters(store):
    with nothing_changes(store):
        assert store.run(noting(store)) is Outcome.REST


def test_a_note_of_another_memory_changes_nothing(store):
    seal(store, "c1", 1)
    with nothing_changes(store):
        assert store.run(noting(store, epoch="other")) is Outcome.SUPERSEDED


def test_a_repeated_note_changes_nothing(store):
    seal(store, "c1", 1)
    store.run(noting(store, drain=1.0))
    with nothing_changes(store):
        assert store.run(noting(store, drain=1.0)) is Outcome.REST


def test_a_forced_request_is_answered_only_while_it_is_the_one_that_was_read(store):
    """Breaks when the field is simply removed: time 0 request A is read, time 1 B is asked, time 2 A's answer removes B."""
    seal(store, "c1", 1)
    first = store.run(requests.force(store.keys, HAROLD, "force"))
    second = store.run(requests.force(store.keys, HAROLD, "force"))
    store.run(noting(store, forced=[("force", first, "")]))
    assert store.run(scope_state.look(store.keys, HAROLD)).forced == {"force": second}

    store.run(noting(store, forced=[("force", second, f"{second}@1")]))
    assert store.run(scope_state.look(store.keys, HAROLD)).forced == {"force": f"{second}@1"}

    store.run(noting(store, forced=[("force", f"{second}@1", "")]))
    assert store.run(scope_state.look(store.keys, HAROLD)).forced == {}


def test_all_requests_that_a_note_names_are_answered(store):
    seal(store, "c1", 1)
    fields = ["force", "force:t1", "force:t2"]
    asked = [(field, store.run(requests.force(store.keys, HAROLD, field)), "") for field in fields]
    store.run(noting(store, forced=asked))

    assert store.run(requests.requests(store.keys, HAROLD)) == {}


def test_a_memory_is_still_for_as_long_as_it_looks_alike(store):
    """Catches a time that begins anew at every look, or stays when something changed."""
    seal(store, "c1", 1)
    of = store.keys.of("harold")
    still = [store.run(note_steps.stir(store.keys, HAROLD, "1/1"))]
    store.client.hincrby(of.record(HAROLD), "stirred_at", -50_000)
    still += [store.run(note_steps.stir(store.keys, HAROLD, looks)) for looks in ("1/1", "2/2")]
    now = 1_000 * store.client.time()[0]

    assert (still[0], round(still[1], -4), still[2]) == (0, 50_000, 0)
    assert int(store.client.hget(of.record(HAROLD), "stirred_at")) == pytest.approx(now, abs=5_000)


@pytest.mark.parametrize("holds", ["tokens", "record"])
def test_that_a_memory_of_counters_alone_is_still_is_noted_too(store, holds):
    push(store, 1)
    of = store.keys.of("harold")
    if holds == "record":
        store.client.hset(of.record(HAROLD), "epoch", "e")
        store.client.unlink(of.tokens)
    store.run(note_steps.stir(store.keys, HAROLD, "1/1"))

    assert store.client.hget(of.record(HAROLD), "stirred") == b"1/1"
