"""note, stir: what a look decided is written down for the memory that was looked at, and nothing twice."""

import pytest
from scene import HAROLD, call, emptied, nothing_changes, push, record, seal, unchanged

from om_api.domain.values import Outcome
from om_api.store.memory import note as note_steps
from om_api.store.memory import requests, scope_state
from om_api.store.memory.note import Decided


def noting(store, epoch=None, **what):
    note = Decided(what.pop("limits", "{}"), "*wake", what.pop("wake", 50), **what)
    return note_steps.note(store.keys, HAROLD, record(store).epoch if epoch is None else epoch, note)


def test_note_writes_down_the_wake_and_the_limits_and_replies_with_them(store):
    of = store.keys.of("harold")
    assert unchanged(store, noting(store)) is Outcome.REST  # creates neither record nor counters
    keys, args = [of.record(HAROLD), of.tokens], ["", "", "", "*wake", 50]
    assert call(store, "note", keys, args) == [b"noted", b"0", b"50"]
    push(store, 1)
    assert store.run(noting(store)) is Outcome.REST
    assert store.run(scope_state.look(store.keys, HAROLD)).wake == 50
    assert call(store, "note", keys, args) == [b"noted", b"10", b"50"]

    seal(emptied(store), "c1", 1)
    for limits in ('{"a":1}', '{"a":2}'):
        store.run(noting(store, limits=limits, drain=1.0))
        assert record(store).limits == limits
    with nothing_changes(store):
        assert store.run(noting(store, epoch="other")) is Outcome.SUPERSEDED
        assert store.run(noting(store, limits='{"a":2}', drain=1.0)) is Outcome.REST


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


def test_stir_notes_of_counters_or_a_record_alone_too(store):
    of = store.keys.of("harold")
    for holds in ("tokens", "record"):
        push(emptied(store), 1)
        if holds == "record":
            store.client.hset(of.record(HAROLD), "epoch", "e")
            store.client.unlink(of.tokens)
        store.run(note_steps.stir(store.keys, HAROLD, "1/1"))
        assert store.client.hget(of.record(HAROLD), "stirred") == b"1/1", holds
