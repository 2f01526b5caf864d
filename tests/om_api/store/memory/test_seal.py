"""seal: named members leave the raw set together, or nothing moves."""

from scene import (
    AT,
    HAROLD,
    activate,
    adopt,
    buffer,
    call,
    counts,
    emptied,
    interrupted,
    member,
    nothing_changes,
    push,
    record,
    seal,
    sealing,
    unchanged,
    write_plainly,
)

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import scope_state
from om_api.store.memory import seal as seal_steps
from om_api.store.threads.describing import set_memory_mode


def look(store, scope=HAROLD):
    return store.run(scope_state.look(store.keys, scope))


def raw_seal(store, thread, members, tokens, chunk, epoch=None, scope=HAROLD):
    epoch = record(store).epoch if epoch is None else epoch
    return seal_steps.seal(store.keys, scope, epoch, thread, members, tokens, chunk)


def test_seal_moves_members_whole_into_a_chunk_that_says_what_it_covers(store):
    seal(store, "c1", 1, 2)
    of, now = store.keys.of("harold"), record(store)
    (chunk,) = look(store).chunks
    found = store.client.zrange(of.sealed("c1"), 0, -1, withscores=True)
    assert found == [(member(1), AT + 1000), (member(2), AT + 2000)]
    assert (store.client.exists(of.messages("t1")), counts(store)) == (0, {"*": 0})
    assert (chunk.id, chunk.thread, chunk.tokens, chunk.messages, chunk.ready) == ("c1", "t1", 20, 2, False)
    assert (chunk.attempts, now.chunk_tokens) == (0, 20)
    assert now.epoch
    assert (now.generation, now.seq, now.origin) == (0, 1, "initial")
    assert store.client.hget(of.record(HAROLD), "schema") == b"1"
    assert store.client.get(of.scope) == b"resource"
    seal(store, "c2", 3)
    push(store, 4, 5, 6)
    store.run(sealing(store, "c3", 4))
    assert [(chunk.id, chunk.seq) for chunk in look(store).chunks] == [("c1", 1), ("c2", 2), ("c3", 3)]
    assert counts(store) == {"t1": 20, "#t1": 2, "*": 20}


def test_seal_repeated_with_its_id_answers_as_before_with_the_seq_of_its_chunk_while_there_is_one(store):
    push(store, 1, 2)
    lost, again = sealing(store, "c2", 1), next(sealing(store, "c2", 1))
    seal(store, "c1", 9)
    assert store.run(sealing(store, "c2", 1)) is Outcome.SEALED
    with nothing_changes(store):
        assert store.run(lost) is Outcome.SEALED
        assert call(store, again.name, again.keys, again.args) == [b"sealed", b"2"]
    assert buffer(store, "c1") is buffer(store, "c2") is Outcome.BUFFERED
    activate(store, "c1", "c2")
    with nothing_changes(store):
        assert call(store, again.name, again.keys, again.args) == [b"sealed", b"0"]


def test_seal_refused_moves_nothing(store):
    """Catches a seal while a member waits for adoption, or of a thread that nobody counted: its tokens would be lost."""
    seal(store, "c1", 1)
    push(store, 2, 3)
    for why, steps in {
        "another memory": raw_seal(store, "t1", [member(2)], 10, "c2", epoch="other"),
        "no memory": raw_seal(store, "t1", [member(2)], 10, "c2", epoch=""),
        "a member is gone": sealing(store, "c2", 2, 1),
        "nothing is named": sealing(store, "c2"),
        "the other scope": raw_seal(store, "t1", [member(2)], 10, "c2", epoch="", scope=Scope("harold", "t1")),
        "another thread": raw_seal(store, "t2", [member(2)], 10, "c2"),
    }.items():
        assert unchanged(store, steps) is Outcome.SUPERSEDED, why
    for pushed in ((1,), ()):
        push(emptied(store), *pushed) if pushed else emptied(store)
        write_plainly(store, member(2))
        assert unchanged(store, sealing(store, "c1", pushed[0] if pushed else 2)) is Outcome.SUPERSEDED, pushed


def test_seal_of_one_message_twice_leaves_it_in_one_chunk(store):
    """Breaks when a seal trusts its look: time 0 two workers read m1 raw, time 1 one seals it, time 2 the other does."""
    push(store, 1, 2)
    late = interrupted(sealing(store, "c2", 1, 2), "seal", lambda: store.run(sealing(store, "c1", 1)))
    assert store.run(late) is Outcome.SUPERSEDED
    assert [chunk.id for chunk in look(store).chunks] == ["c1"]
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_seal_leaves_a_message_raw_that_was_pushed_meanwhile(store):
    """Breaks when a seal empties the raw set: time 0 it reads m1, time 1 m2 is pushed, time 2 m1 alone is sealed."""
    push(store, 1)
    assert store.run(interrupted(sealing(store, "c1", 1), "seal", lambda: push(store, 2))) is Outcome.SEALED
    assert store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1) == [member(2)]
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_seal_leaves_messages_raw_whose_thread_leaves_no_memory_meanwhile(store):
    """Breaks when a seal trusts its look: time 0 a chunk of m1 is planned, time 1 its thread is set to leave no memory."""
    push(store, 1)
    for mode in ("off", "read_only"):
        turning = set_memory_mode(store.keys, "harold", "t1", mode)
        late = interrupted(sealing(store, "c1", 1), "seal", lambda steps=turning: store.run(steps))
        assert store.run(late) is Outcome.SUPERSEDED, mode
        assert store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1) == [member(1)], mode
    store.run(set_memory_mode(store.keys, "harold", "t1", "write_only"))
    assert store.run(sealing(store, "c1", 1)) is Outcome.SEALED


def test_seal_moves_more_members_than_a_slice_whole(store):
    assert seal(store, "c1", *range(2_300)) is Outcome.SEALED
    assert store.client.zcard(store.keys.of("harold").sealed("c1")) == 2_300
    assert counts(store) == {"*": 0}


def test_seal_keeps_counters_right_whatever_the_weight_and_whatever_is_missing_of_them(store):
    """Breaks without the defaults: scripts do not roll back, so one that fails at the counters has moved the messages."""
    both = [member(1), member(2)]
    for numbers, weight, left in (
        ((1, 2), 5, {"*": 0}),
        ((1, 2, 3), 25, {"t1": 5, "#t1": 1, "*": 5}),
        ((1, 2, 3), 99, {"t1": 0, "#t1": 1, "*": 0}),
    ):
        push(emptied(store), *numbers)
        assert store.run(raw_seal(store, "t1", both, weight, "c1")) is Outcome.SEALED
        assert counts(store) == left, (numbers, weight)
    for gone, total in ((["t1", "*"], 0), (["t1"], 10), (["*"], 0)):
        push(emptied(store), 1)
        store.client.hdel(store.keys.of("harold").tokens, *gone)
        assert store.run(sealing(store, "c1", 1)) is Outcome.SEALED
        assert counts(store) == {"*": total}, gone


def test_a_thread_was_heard_of_at_the_lesser_of_message_and_server_time(store):
    """Breaks when a message's own time is believed: the thread would stand first in every list for years."""
    threads, ahead = store.keys.of("harold").threads, int(store.client.time()[0]) * 1000 + 10**10
    write_plainly(store, member(1), member(2), score=ahead)
    store.run(adopt(store))
    adopted = store.client.zscore(threads, "t1")
    store.client.delete(threads)
    store.run(sealing(store, "c1", 1, 2))
    assert max(adopted, store.client.zscore(threads, "t1")) <= int(store.client.time()[0]) * 1000 + 1_000
    seal(emptied(store), "c1", 5)
    seal(store, "c2", 1)
    assert look(store).thread_times["t1"] == AT + 5000
