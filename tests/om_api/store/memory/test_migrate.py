"""migrate: a memory moves to the other scope whole, or stays where it is."""

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    activate,
    interrupted,
    member,
    moving,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    reflect,
    seal,
    words,
)

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import clear, note, reading, requests, scope_state

T1, T2 = Scope("harold", "t1"), Scope("harold", "t2")
FOLDED = '* of both\n<thread id="t1">\n* of one\n</thread>'


def ids(store, scope):
    return [s.observation.id for s in store.run(reading.observations(store.keys, scope))]


def text(store, scope):
    return [generation.text for generation in store.run(reading.generations(store.keys, scope))]


def pooled(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 2)
    observed(store, "o3", 31, thread="t2")


def test_observations_go_to_their_threads(store):
    pooled(store)

    assert store.run(moving(store)) is Outcome.ACTIVATED
    assert (ids(store, T1), ids(store, T2), ids(store, HAROLD)) == (["o2"], ["o3"], [])
    assert store.client.get(store.keys.of("harold").scope) == b"thread"


def test_the_last_reflection_leads_each_thread(store):
    pooled(store)
    store.run(moving(store))

    assert text(store, T1) == ["* of both\n* of one"]
    assert text(store, T2) == ["* of both"]
    assert (record(store, T1).generation, record(store, T1).origin) == (1, "restore")
    assert record(store, T1).reflection_tokens == words(text(store, T1)[0])


def test_threads_go_into_one_pool_and_keep_their_words_apart(store):
    observed(store, "o1", 1, scope=T1)
    reflect(store, "o1", scope=T1, text="* of one")
    observed(store, "o2", 31, thread="t2", scope=T2)

    assert store.run(moving(store, "resource")) is Outcome.ACTIVATED
    assert ids(store, HAROLD) == ["o2"]
    assert text(store, HAROLD) == ['<thread id="t1">\n* of one\n</thread>']


def test_what_a_text_stands_for_moves_along_and_is_kept_anew(store):
    pooled(store)
    store.run(moving(store))
    history = store.keys.of("harold").reflected(T1, 1)

    assert [s.observation.id for s in store.run(reading.replaced(store.keys, T1, 1))] == ["o1"]
    assert SETTINGS.retention_s - 5 <= store.client.ttl(history) <= SETTINGS.retention_s


def test_a_record_that_a_move_makes_says_of_which_schema_it_is(store):
    """Catches one that a later version would take for another's: it is the schema that a seal writes."""
    pooled(store)
    sealed = store.client.hget(store.keys.of("harold").record(HAROLD), "schema")
    store.run(moving(store))

    assert store.client.hget(store.keys.of("harold").record(T1), "schema") == sealed == b"1"


def test_raw_messages_and_sources_stay_where_they_are(store):
    pooled(store)
    push(store, 5)
    store.run(moving(store))
    of = store.keys.of("harold")

    assert store.client.zrange(of.messages("t1"), 0, -1) == [member(5)]
    assert store.client.zrange(of.source("o2"), 0, -1) == [member(2)]
    assert store.run(verify(store.keys)) == []


def test_ready_chunks_are_activated_first(store):
    ready(store, "c1", 1)

    assert store.run(moving(store)) is Outcome.ACTIVATED
    assert ids(store, T1) == ["c1"]


def test_a_memory_with_an_unready_chunk_is_busy(store):
    pooled(store)
    seal(store, "c9", 9)
    with nothing_changes(store):
        assert store.run(moving(store)) is Outcome.BUSY


@pytest.mark.parametrize("to", ["thread", "resource"])
def test_a_memory_that_is_there_already_rests(store, to):
    observed(store, "o1", 1, scope=T1 if to == "thread" else HAROLD)
    with nothing_changes(store):
        assert store.run(moving(store, to)) is Outcome.REST


def test_a_move_repeated_after_a_lost_reply_answers_as_before(store):
    pooled(store)
    asked = []

    def overheard(steps):
        reply = None
        try:
            step = next(steps)
            while True:
                asked.append(step)
                reply = yield step
                step = steps.send(reply)
        except StopIteration as end:
            return end.value

    def again():
        return (yield next(step for step in asked if getattr(step, "name", "") == "migrate"))

    store.run(overheard(moving(store)))
    with nothing_changes(store):
        assert store.run(again()) == b"migrated"


def test_to_nowhere_is_refused(store):
    with pytest.raises(InvalidInputError, match="'resource' or 'thread', not 'galaxy'"):
        store.run(moving(store, "galaxy"))


@pytest.mark.parametrize("came", ["a seal", "an activation", "a reflection", "a forgotten observation"])
def test_a_move_planned_before_something_came_changes_nothing(store, came):
    """Breaks without the versions: time 0 the move reads, time 1 something comes, time 2 what was read is written anew."""
    pooled(store)
    push(store, 8)
    first = store.run(reading.observations(store.keys, HAROLD))[0]
    done = {
        "a seal": lambda: seal(store, "c9", 9),
        "an activation": lambda: observed(store, "o9", 9),
        "a reflection": lambda: reflect(store, "o2"),
        "a forgotten observation": lambda: store.run(clear.forget(store.keys, HAROLD, record(store).epoch, first)),
    }

    assert store.run(interrupted(moving(store), "migrate", done[came])) is Outcome.SUPERSEDED
    assert store.client.get(store.keys.of("harold").scope) == b"resource"
    assert store.run(verify(store.keys)) == []


def _clear(store):
    return store.run(clear.clear(store.keys, "harold"))


def test_a_move_of_another_memory_than_was_read_changes_nothing(store):
    """Breaks without the epoch: time 0 o1 is read, time 1 a clear and o9 leave seq and generation as read, time 2 o1 is back."""
    observed(store, "o1", 1)

    def another_memory():
        _clear(store)
        observed(store, "o9", 9)

    assert store.run(interrupted(moving(store), "migrate", another_memory)) is Outcome.SUPERSEDED
    assert ids(store, HAROLD) == ["o9"]


def test_a_move_of_what_was_cleared_meanwhile_makes_no_memory(store):
    """Breaks without the scope's check: no thread is left whose version could tell that the memory is gone."""
    seal(store, "c1", 1, scope=T1)
    store.run(clear.clear_thread(store.keys, T1, "t1", words))

    assert store.run(interrupted(moving(store, "resource"), "migrate", lambda: _clear(store))) is Outcome.SUPERSEDED
    assert store.client.exists(store.keys.of("harold").scope, store.keys.of("harold").record(HAROLD)) == 0


def test_a_chunk_that_is_sealed_before_the_move_reads_stops_it(store):
    """Breaks without a look at the chunks: time 0 none is there, time 1 c9 is sealed, time 2 the version read knows it."""
    pooled(store)

    assert store.run(interrupted(moving(store), "ZRANGE", lambda: seal(store, "c9", 9))) is Outcome.SUPERSEDED
    assert [chunk.id for chunk in store.run(scope_state.look(store.keys, HAROLD)).chunks] == ["c9"]


@pytest.mark.parametrize("scope", [T1, T2])
@pytest.mark.parametrize("there", ["record", "chunks", "observations", "reflections"])
def test_a_memory_is_not_moved_onto_another(store, there, scope):
    """Breaks without a look at where it goes: what stands there would be joined to it or overwritten."""
    pooled(store)
    name = getattr(store.keys.of("harold"), there)(scope)
    store.client.hset(name, "epoch", "e") if there == "record" else store.client.zadd(name, {"x": 1})
    with nothing_changes(store):
        assert store.run(moving(store)) is Outcome.SUPERSEDED


def test_requests_that_wait_where_a_memory_goes_wait_still(store):
    """Catches a record that is unlinked with those that the memory leaves: nobody would answer who asked."""
    pooled(store)
    asked = [store.run(requests.force(store.keys, scope, "force")) for scope in (T1, T2)]
    store.run(moving(store))

    assert [store.run(requests.requests(store.keys, scope)) for scope in (T1, T2)] == [
        {"force": request.encode()} for request in asked
    ]


def test_a_thread_that_is_only_raw_does_not_stop_the_move(store):
    observed(store, "o1", 1, scope=T1)
    push(store, 31, thread="t2")

    assert store.run(moving(store, "resource")) is Outcome.ACTIVATED
    assert ids(store, HAROLD) == ["o1"]


def test_a_memory_that_was_never_reflected_has_no_generation_afterwards(store):
    observed(store, "o1", 1)
    store.run(moving(store))

    assert text(store, T1) == []
    assert (record(store, T1).generation, record(store, T1).origin) == (0, "initial")


@pytest.mark.parametrize("wake", ["*wake", "*wake:t1"])
def test_counters_stay_and_from_where_on_a_push_is_due_is_forgotten(store, wake):
    """Breaks when the old wake stays: pushes would be compared with a pressure that is no longer looked at."""
    pooled(store)
    push(store, 5)
    store.run(note.note(store.keys, HAROLD, record(store).epoch, note.Decided("", wake, 100)))
    store.run(moving(store))

    counters = store.client.hgetall(store.keys.of("harold").tokens)
    assert {name: n for name, n in counters.items() if name not in {b"*key", b"*ids"}} == {
        b"t1": b"10",
        b"#t1": b"1",
        b"*": b"10",
    }


def test_a_worker_of_the_old_scope_changes_nothing_afterwards(store):
    """Breaks when the epoch stays: time 0 a worker reads the pool, time 1 it moves, time 2 the worker activates into the pool."""
    ready(store, "c1", 1)
    look = store.run(scope_state.look(store.keys, HAROLD))
    store.run(moving(store))
    late = activate_steps.activate(store.keys, HAROLD, look.record.epoch, look.chunks, ["c1"], 60)
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_a_moved_memory_goes_on(store):
    pooled(store)
    store.run(moving(store))
    ready(store, "c5", 5, scope=T1)

    assert activate(store, "c5", scope=T1, by="a5") is Outcome.ACTIVATED
    assert ids(store, T1) == ["o2", "c5"]
    assert store.run(verify(store.keys)) == []
