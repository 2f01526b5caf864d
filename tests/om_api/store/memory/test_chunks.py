"""begin, buffer, split: a chunk is tried, observed once, or halved; what it covers never changes."""

from scene import (
    AT,
    HAROLD,
    activating,
    buffer,
    contents,
    emptied,
    interrupted,
    member,
    nothing_changes,
    observation,
    ready,
    record,
    repeating,
    seal,
    unchanged,
)

from om_api.domain.values import Chunk, Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import clear, decoding, scope_state


def chunks(store):
    return store.run(scope_state.look(store.keys, HAROLD)).chunks


def splitting(store, chunk="c1", n=1, tokens=10, attempts=2):
    found = next((c for c in chunks(store) if c.id == chunk), Chunk(id=chunk, thread="t1", seq=1, tokens=0, messages=0))
    return chunks_steps.split(store.keys, HAROLD, found, n, tokens, attempts)


def test_begin_counts_attempts_of_a_chunk_that_waits(store):
    seal(store, "c1", 1)
    ready(store, "c2", 2)

    assert [store.run(chunks_steps.begin(store.keys, "harold", "c1", n)) for n in (1, 1, -1, -1, -1, 1)] == [
        1,
        2,
        1,
        0,
        0,
        1,
    ]
    assert chunks(store)[0].attempts == 1
    with nothing_changes(store):
        assert [store.run(chunks_steps.begin(store.keys, "harold", name)) for name in ("c2", "c9")] == [None, None]


def test_a_chunk_is_not_started_after_two_crashes_and_each_half_after_one_more(store):
    seal(store, "c1", 1, 2)
    begin, crash = chunks_steps.begin(store.keys, "harold", "c1"), chunks_steps.crashed
    assert store.run(crash(store.keys, "harold", "c1", "f1")) == (1, "t1", 2, 20)
    assert store.run(crash(store.keys, "harold", "c1", "f1")).crashes == 1
    assert store.run(begin) == 1
    store.run(crash(store.keys, "harold", "c1", "f2"))
    with nothing_changes(store):
        assert store.run(chunks_steps.begin(store.keys, "harold", "c1")) == "crashed"
        assert store.run(crash(store.keys, "harold", "c9", "f2")) is None
    store.run(splitting(store))
    first, second = chunks(store)
    assert (first.crashes, second.crashes) == (1, 1)
    store.run(crash(store.keys, "harold", first.id, "f3"))
    begun = [store.run(chunks_steps.begin(store.keys, "harold", each.id)) for each in (first, second)]
    assert begun == ["crashed", 3]


def test_buffer_makes_a_chunk_ready_once(store):
    """Breaks when buffer overwrites: time 0 two workers think, time 1 one stores, time 2 the other stores its own words."""
    seal(store, "c1", 1, 2)
    late = chunks_steps.buffer(store.keys, "harold", observation(store, "c1"), "late", b"", b"entry")

    assert buffer(store, "c1", by="early") is Outcome.BUFFERED
    (chunk,) = chunks(store)
    assert chunk.ready
    assert decoding.as_observation(chunk.observation).message_ids == ("m1", "m2")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED
        assert buffer(store, "c1", by="early") is Outcome.BUFFERED
        assert buffer(store, "c9") is Outcome.SUPERSEDED


# -- split --------------------------------------------------------------------------------------------------------------


def test_split_makes_two_chunks_that_cover_the_same_between_their_neighbours(store):
    seal(store, "c0", 0)
    seal(store, "c1", 1, 2, 3)
    seal(store, "c5", 5)

    assert store.run(splitting(store)) is Outcome.SPLIT
    before, first, second, behind = chunks(store)
    assert (before.id, behind.id) == ("c0", "c5")
    assert before.seq < first.seq < second.seq < behind.seq
    halves = [(c.messages, c.tokens, c.attempts, c.ready) for c in (first, second)]
    assert halves == [(1, 10, 2, False), (2, 20, 2, False)]
    found = [store.client.zrange(store.keys.of("harold").sealed(c.id), 0, -1) for c in (first, second)]
    assert found == [[member(1)], [member(2), member(3)]]
    assert store.run(verify(store.keys)) == []


def test_split_gives_no_half_a_seq_beyond_what_was_drawn(store):
    """Breaks when a half gets a seq beyond its chunk's: a forced request waits for all up to the seq that was drawn last."""
    seal(store, "c1", *range(8))
    drawn = record(store).seq
    for n in (4, 2, 1):
        store.run(splitting(store, chunks(store)[-1].id, n, 10 * n))
    halves = chunks(store)
    assert all(0 < chunk.seq <= drawn for chunk in halves)
    assert len({chunk.seq for chunk in halves}) == 4

    seal(store, "c2", 9)
    assert chunks(store)[-1].id == "c2"
    assert store.run(verify(store.keys)) == []


def test_split_moves_more_members_than_one_command_of_lua_can_hold(store):
    seal(store, "c1", *range(2_400))
    store.run(splitting(store, n=1_100, tokens=11_000))
    assert [chunk.messages for chunk in chunks(store)] == [1_100, 1_300]
    assert store.run(verify(store.keys)) == []

    seal(emptied(store), "c1", 1)
    of = store.keys.of("harold")
    store.client.zadd(of.sealed("c1"), {f"{n}": AT * 2 + n for n in range(5_000)})
    store.run(splitting(store))
    assert [store.client.zcard(of.sealed(chunk.id)) for chunk in chunks(store)] == [1, 5_000]


def test_split_refused_changes_nothing(store):
    seal(store, "c1", 1, 2, 3)
    ready(store, "c2", 4, 5)
    unlisted = splitting(store)
    with nothing_changes(store):
        for n in (0, -1, 3, 4):
            assert store.run(splitting(store, n=n)) is Outcome.SUPERSEDED, n
        for name in ("c2", "c9"):
            assert store.run(splitting(store, name)) is Outcome.SUPERSEDED, name
    store.client.zrem(store.keys.of("harold").chunks(HAROLD), "c1")
    assert unchanged(store, unlisted) is Outcome.SUPERSEDED


def test_split_halves_are_as_old_as_their_chunk(store):
    """Breaks without the default: a chunk of unknown age would be split half way, and scripts do not roll back."""
    of = store.keys.of("harold")
    for since in (b"1763600000000", None):
        seal(emptied(store), "c1", 1, 2)
        if since:
            store.client.hset(of.chunk("c1"), "sealed_at", since)
        else:
            store.client.hdel(of.chunk("c1"), "sealed_at")
        store.run(splitting(store))
        assert [store.client.hget(of.chunk(c.id), "sealed_at") for c in chunks(store)] == [since or b"0"] * 2


def test_split_repeated_with_its_ids_answers_as_before_and_another_one_changes_nothing(store):
    seal(store, "c1", 1, 2)
    late = splitting(store)
    again = repeating(store, splitting(store), "split")
    with nothing_changes(store):
        assert again() == b"split"
        assert store.run(late) is Outcome.SUPERSEDED


def test_split_is_noticed_by_a_clear_and_an_activation_that_were_planned_before(store):
    """Breaks when split leaves the record's seq: time 0 clear reads c1, time 1 c1 is split, time 2 c1's keys are unlinked."""
    seal(store, "c1", 1, 2)
    store.run(interrupted(clear.clear(store.keys, "harold"), "clear", lambda: store.run(splitting(store))))
    assert contents(store) == {}

    seal(store, "c1", 1, 2)
    ready(store, "c2", 3)
    late = activating(store, "c2")
    store.run(splitting(store))
    assert unchanged(store, late) is Outcome.SUPERSEDED
