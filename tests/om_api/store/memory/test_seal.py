"""seal: named members leave the raw set together, or nothing moves."""

import pytest
from scene import (
    AT,
    HAROLD,
    activate,
    adopt,
    buffer,
    call,
    interrupted,
    member,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    seal,
    sealing,
    write_plainly,
)

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import reading, scope_state
from om_api.store.memory import seal as seal_steps


def look(store, scope=HAROLD):
    return store.run(scope_state.look(store.keys, scope))


def counts(store):
    found = store.client.hgetall(store.keys.of("harold").tokens)
    return {name.decode(): int(n) for name, n in found.items() if name not in {b"*key", b"*ids"}}


def test_sealed_members_move_whole_into_their_chunk(store):
    seal(store, "c1", 1, 2)
    of = store.keys.of("harold")

    assert store.client.zrange(of.sealed("c1"), 0, -1, withscores=True) == [
        (member(1), AT + 1000),
        (member(2), AT + 2000),
    ]
    assert store.client.exists(of.messages("t1")) == 0
    assert counts(store) == {"*": 0}


def test_a_chunk_says_what_it_covers(store):
    seal(store, "c1", 1, 2)
    (chunk,) = look(store).chunks

    assert (chunk.id, chunk.thread, chunk.tokens, chunk.messages, chunk.ready) == ("c1", "t1", 20, 2, False)
    assert record(store).chunk_tokens == 20


def test_a_sealed_chunk_has_all_its_attempts_before_it(store):
    seal(store, "c1", 1)

    assert [chunk.attempts for chunk in look(store).chunks] == [0]


def test_the_first_seal_makes_the_record_and_sets_the_scope(store):
    seal(store, "c1", 1)

    assert record(store).epoch
    assert (record(store).generation, record(store).seq, record(store).origin) == (0, 1, "initial")
    assert store.client.hget(store.keys.of("harold").record(HAROLD), "schema") == b"1"
    assert store.client.get(store.keys.of("harold").scope) == b"resource"


def test_what_stays_raw_stays_counted(store):
    push(store, 1, 2, 3)
    store.run(sealing(store, "c1", 1))

    assert counts(store) == {"t1": 20, "#t1": 2, "*": 20}


def test_chunks_stand_in_the_order_of_sealing(store):
    for n in (1, 2, 3):
        seal(store, f"c{n}", n)

    assert [(chunk.id, chunk.seq) for chunk in look(store).chunks] == [("c1", 1), ("c2", 2), ("c3", 3)]


def test_a_seal_repeated_with_its_id_answers_as_before(store):
    push(store, 1, 2, 3)
    steps = sealing(store, "c1", 1, 2), sealing(store, "c1", 1, 2)

    assert store.run(steps[0]) is Outcome.SEALED
    with nothing_changes(store):
        assert store.run(steps[1]) is Outcome.SEALED


def test_a_seal_repeated_after_its_chunk_was_activated_answers_as_before(store):
    push(store, 1)
    lost = sealing(store, "c1", 1)
    observed(store, "c1", 1)
    with nothing_changes(store):
        assert store.run(lost) is Outcome.SEALED


@pytest.mark.parametrize(("then", "seq"), [("sealed", b"2"), ("activated", b"0")])
def test_a_repeated_seal_is_told_the_seq_of_its_chunk_while_there_is_one(store, then, seq):
    push(store, 1)
    again = next(sealing(store, "c2", 1))
    seal(store, "c1", 9)
    store.run(sealing(store, "c2", 1))
    if then == "activated":
        assert buffer(store, "c1") is buffer(store, "c2") is Outcome.BUFFERED
        activate(store, "c1", "c2")

    assert call(store, again.name, again.keys, again.args) == [b"sealed", seq]


def test_more_members_than_a_slice_are_sealed_whole(store):
    assert seal(store, "c1", *range(2_300)) is Outcome.SEALED
    assert store.client.zcard(store.keys.of("harold").sealed("c1")) == 2_300
    assert counts(store) == {"*": 0}


REFUSED = {
    "another memory": lambda s: seal_steps.seal(s.keys, HAROLD, "other", "t1", [member(2)], 10, "c2"),
    "no memory": lambda s: seal_steps.seal(s.keys, HAROLD, "", "t1", [member(2)], 10, "c2"),
    "a member is gone": lambda s: sealing(s, "c2", 2, 1),
    "nothing is named": lambda s: sealing(s, "c2"),
    "the other scope": lambda s: seal_steps.seal(s.keys, Scope("harold", "t1"), "", "t1", [member(2)], 10, "c2"),
    "another thread": lambda s: seal_steps.seal(s.keys, HAROLD, record(s).epoch, "t2", [member(2)], 10, "c2"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_refused_seal_moves_nothing(store, why):
    seal(store, "c1", 1)
    push(store, 2, 3)
    with nothing_changes(store):
        assert store.run(REFUSED[why](store)) is Outcome.SUPERSEDED


def test_nothing_is_sealed_while_a_member_waits_for_adoption(store):
    push(store, 1)
    write_plainly(store, member(2))
    with nothing_changes(store):
        assert store.run(sealing(store, "c1", 1)) is Outcome.SUPERSEDED


def test_a_message_of_a_thread_that_nobody_counted_is_not_sealed(store):
    """Catches a count of one where there is none: the tokens of what was never counted would leave the counters."""
    write_plainly(store, member(1))
    with nothing_changes(store):
        assert store.run(sealing(store, "c1", 1)) is Outcome.SUPERSEDED


def test_two_seals_of_one_message_leave_it_in_one_chunk(store):
    """Breaks when a seal trusts its look: time 0 two workers read m1 raw, time 1 one seals it, time 2 the other does."""
    push(store, 1, 2)
    late = interrupted(sealing(store, "c2", 1, 2), "seal", lambda: store.run(sealing(store, "c1", 1)))

    assert store.run(late) is Outcome.SUPERSEDED
    assert [chunk.id for chunk in look(store).chunks] == ["c1"]
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_a_message_pushed_between_look_and_seal_stays_raw(store):
    """Breaks when a seal empties the raw set: time 0 it reads m1, time 1 m2 is pushed, time 2 m1 alone is sealed."""
    push(store, 1)

    assert store.run(interrupted(sealing(store, "c1", 1), "seal", lambda: push(store, 2))) is Outcome.SEALED
    assert store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1) == [member(2)]
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_the_last_messages_of_a_thread_take_all_its_tokens_whatever_they_weigh(store):
    """Breaks when only their weight is taken: what no message weighs would fill the window for ever."""
    push(store, 1, 2)
    store.run(seal_steps.seal(store.keys, HAROLD, "", "t1", [member(1), member(2)], 5, "c1"))

    assert counts(store) == {"*": 0}


@pytest.mark.parametrize(("gone", "left"), [(["t1", "*"], 0), (["t1"], 10), (["*"], 0)])
def test_counters_of_which_a_part_is_gone_are_no_reason_to_stop_half_way(store, gone, left):
    """Breaks without the defaults: scripts do not roll back, so one that fails at the counters has moved the messages."""
    push(store, 1)
    store.client.hdel(store.keys.of("harold").tokens, *gone)

    assert store.run(sealing(store, "c1", 1)) is Outcome.SEALED
    assert counts(store) == {"*": left}


@pytest.mark.parametrize(("weight", "left"), [(25, 5), (99, 0)])
def test_another_tokenizer_than_the_writers_does_not_stop_sealing(store, weight, left):
    push(store, 1, 2, 3)
    done = store.run(seal_steps.seal(store.keys, HAROLD, "", "t1", [member(1), member(2)], weight, "c1"))

    assert done is Outcome.SEALED
    assert counts(store) == {"t1": left, "#t1": 1, "*": left}


def test_a_thread_is_met_at_the_lesser_of_message_and_server_time(store):
    seal(store, "c1", 1)
    ahead = 4_000_000_000_000
    write_plainly(store, b'{"id":"f","role":"user","content":"from the future","tokens":1}', score=ahead)
    store.client.hset(store.keys.of("harold").tokens, mapping={"t1": 1, "#t1": 1, "*": 1})
    raw = b'{"id":"f","role":"user","content":"from the future","tokens":1}'
    store.run(seal_steps.seal(store.keys, HAROLD, record(store).epoch, "t1", [raw], 1, "c2"))

    assert look(store).thread_times["t1"] <= look(store).now < ahead


def test_a_message_sealed_late_does_not_set_back_when_its_thread_was_heard_of(store):
    seal(store, "c1", 5)
    seal(store, "c2", 1)

    assert look(store).thread_times["t1"] == AT + 5000


def test_a_chunk_sealed_late_is_activated_behind_the_first(store):
    ready(store, "c1", 1)
    ready(store, "c2", 2)

    assert activate(store, "c1", "c2") is Outcome.ACTIVATED
    assert [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))] == ["c1", "c2"]


def test_a_thread_whose_messages_are_dated_ahead_was_heard_of_just_now(store):
    """Breaks when a message's own time is believed: the thread would stand first in every list for years."""
    ahead = int(store.client.time()[0]) * 1000 + 10**10
    write_plainly(store, member(1), member(2), score=ahead)
    store.run(adopt(store))
    threads = store.keys.of("harold").threads
    adopted = store.client.zscore(threads, "t1")
    store.client.delete(threads)
    store.run(sealing(store, "c1", 1, 2))

    assert max(adopted, store.client.zscore(threads, "t1")) <= int(store.client.time()[0]) * 1000 + 1_000
