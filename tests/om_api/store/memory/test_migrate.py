"""migrate: a memory moves to the other scope whole, or stays where it is."""

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    activate,
    emptied,
    in_force,
    interrupted,
    member,
    moving,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    reflect,
    repeating,
    seal,
    unchanged,
    words,
)

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import clear, note, reading, requests, scope_state

T1, T2 = Scope("harold", "t1"), Scope("harold", "t2")
FOLDED = '* of both\n<thread id="t1">\n* of one\n</thread>'


def text(store, scope):
    return [generation.text for generation in store.run(reading.generations(store.keys, scope))]


def pooled(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 2)
    observed(store, "o3", 31, thread="t2")


def test_migrate_gives_each_thread_its_observations_led_by_the_last_reflection(store):
    pooled(store)
    push(store, 5)
    of = store.keys.of("harold")
    schema = store.client.hget(of.record(HAROLD), "schema")
    for wake in ("*wake", "*wake:t1"):
        store.run(note.note(store.keys, HAROLD, record(store).epoch, note.Decided("", wake, 100)))

    assert store.run(moving(store)) is Outcome.ACTIVATED
    assert (in_force(store, T1), in_force(store, T2), in_force(store, HAROLD)) == (["o2"], ["o3"], [])
    assert store.client.get(of.scope) == b"thread"
    assert (text(store, T1), text(store, T2)) == (["* of both\n* of one"], ["* of both"])
    assert (record(store, T1).generation, record(store, T1).origin) == (1, "restore")
    assert record(store, T1).reflection_tokens == words(text(store, T1)[0])
    assert [s.observation.id for s in store.run(reading.replaced(store.keys, T1, 1))] == ["o1"]
    assert SETTINGS.retention_s - 5 <= store.client.ttl(of.reflected(T1, 1)) <= SETTINGS.retention_s
    assert store.client.hget(of.record(T1), "schema") == schema == b"1"
    assert store.client.zrange(of.messages("t1"), 0, -1) == [member(5)]
    assert store.client.zrange(of.source("o2"), 0, -1) == [member(2)]
    counters = store.client.hgetall(of.tokens)  # breaks when the old wake stays: nobody looks at its pressure any more
    found = {name: n for name, n in counters.items() if name not in {b"*key", b"*ids"}}
    assert found == {b"t1": b"10", b"#t1": b"1", b"*": b"10"}
    assert store.run(verify(store.keys)) == []

    ready(store, "c5", 6, scope=T1)
    assert activate(store, "c5", scope=T1, by="a5") is Outcome.ACTIVATED
    assert (in_force(store, T1), store.run(verify(store.keys))) == (["o2", "c5"], [])


def test_migrate_activates_ready_chunks_first_and_leaves_late_workers_nothing(store):
    """Breaks when the epoch stays: time 0 a worker reads the pool, time 1 it moves, time 2 the worker activates into the pool."""
    ready(store, "c1", 1)
    look = store.run(scope_state.look(store.keys, HAROLD))
    assert store.run(moving(store)) is Outcome.ACTIVATED
    assert (in_force(store, T1), text(store, T1)) == (["c1"], [])
    assert (record(store, T1).generation, record(store, T1).origin) == (0, "initial")
    late = activate_steps.activate(store.keys, HAROLD, look.record.epoch, look.chunks, ["c1"], 60, count=lambda _: 0)
    assert unchanged(store, late) is Outcome.SUPERSEDED


def test_migrate_rests_is_busy_or_refused_and_changes_nothing(store):
    with pytest.raises(InvalidInputError, match="'resource' or 'thread', not 'galaxy'"):
        store.run(moving(store, "galaxy"))
    pooled(store)
    assert unchanged(store, moving(store, "resource")) is Outcome.REST
    was = store.client.hget(store.keys.of("harold").record(HAROLD), "generation")
    store.client.hset(store.keys.of("harold").record(HAROLD), "generation", 100_001)
    with pytest.raises(InvalidInputError, match="too many generations: 100001"), nothing_changes(store):
        store.run(moving(store))
    store.client.hset(store.keys.of("harold").record(HAROLD), "generation", was)
    seal(store, "c9", 9)
    assert unchanged(store, moving(store)) is Outcome.BUSY
    for there in ("record", "chunks", "observations", "reflections"):
        for scope in (T1, T2):
            pooled(emptied(store))
            name = getattr(store.keys.of("harold"), there)(scope)
            store.client.hset(name, "epoch", "e") if there == "record" else store.client.zadd(name, {"x": 1})
            assert unchanged(store, moving(store)) is Outcome.SUPERSEDED, (there, scope)


def test_migrate_repeated_after_a_lost_reply_answers_as_before(store):
    pooled(store)
    again = repeating(store, moving(store), "migrate")
    with nothing_changes(store):
        assert again() == b"migrated"


def _clear(store):
    return store.run(clear.clear(store.keys, "harold"))


def test_migrate_planned_before_something_came_changes_nothing(store):
    """Breaks without versions and epoch: time 0 the move reads, time 1 something comes, time 2 what was read is written anew."""

    def forget():
        first = store.run(reading.observations(store.keys, HAROLD))[0]
        store.run(clear.forget(store.keys, HAROLD, record(store).epoch, first))

    for came, done in {
        "a seal": lambda: seal(store, "c9", 9),
        "an activation": lambda: observed(store, "o9", 9),
        "a reflection": lambda: reflect(store, "o2"),
        "a forgotten observation": forget,
    }.items():
        pooled(emptied(store))
        push(store, 8)
        assert store.run(interrupted(moving(store), "migrate", done)) is Outcome.SUPERSEDED, came
        assert store.client.get(store.keys.of("harold").scope) == b"resource", came
        assert store.run(verify(store.keys)) == [], came

    observed(emptied(store), "o1", 1)
    steps = interrupted(moving(store), "migrate", lambda: (_clear(store), observed(store, "o9", 9)))
    assert (store.run(steps), in_force(store, HAROLD)) == (Outcome.SUPERSEDED, ["o9"])


def test_migrate_of_what_was_cleared_meanwhile_makes_no_memory(store):
    """Breaks without the scope's check: no thread is left whose version could tell that the memory is gone."""
    seal(store, "c1", 1, scope=T1)
    store.run(clear.clear_thread(store.keys, T1, "t1", words))

    assert store.run(interrupted(moving(store, "resource"), "migrate", lambda: _clear(store))) is Outcome.SUPERSEDED
    assert store.client.exists(store.keys.of("harold").scope, store.keys.of("harold").record(HAROLD)) == 0


def test_migrate_is_stopped_by_a_chunk_that_was_sealed_before_it_reads(store):
    """Breaks without a look at the chunks: time 0 none is there, time 1 c9 is sealed, time 2 the version read knows it."""
    pooled(store)

    assert store.run(interrupted(moving(store), "ZRANGE", lambda: seal(store, "c9", 9))) is Outcome.SUPERSEDED
    assert [chunk.id for chunk in store.run(scope_state.look(store.keys, HAROLD)).chunks] == ["c9"]


def test_migrate_leaves_requests_waiting_where_a_memory_goes(store):
    """Catches a record that is unlinked with those that the memory leaves: nobody would answer who asked."""
    pooled(store)
    asked = [store.run(requests.force(store.keys, scope, "force")) for scope in (T1, T2)]
    store.run(moving(store))

    found = [store.run(requests.requests(store.keys, scope)) for scope in (T1, T2)]
    assert found == [{"force": request.encode()} for request in asked]
