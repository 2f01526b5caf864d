"""begin, buffer, split: a chunk is tried, observed once, or halved; what it covers never changes."""

import pytest
from scene import (
    AT,
    HAROLD,
    activate,
    activating,
    buffer,
    contents,
    interrupted,
    member,
    nothing_changes,
    observation,
    ready,
    record,
    seal,
)

from om_api.domain.values import Chunk, Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import clear, decoding, reading, scope_state


def chunks(store):
    return store.run(scope_state.look(store.keys, HAROLD)).chunks


def splitting(store, chunk="c1", n=1, tokens=10, attempts=2):
    found = next((c for c in chunks(store) if c.id == chunk), Chunk(id=chunk, thread="t1", seq=1, tokens=0, messages=0))
    return chunks_steps.split(store.keys, HAROLD, found, n, tokens, attempts)


# -- begin --------------------------------------------------------------------------------------------------------------


def test_attempts_are_counted_and_given_back(store):
    seal(store, "c1", 1)

    assert [store.run(chunks_steps.begin(store.keys, "harold", "c1", n)) for n in (1, 1, -1)] == [1, 2, 1]
    assert chunks(store)[0].attempts == 1


@pytest.mark.parametrize("state", ["gone", "ready"])
def test_no_attempt_is_counted_on_a_chunk_gone_or_ready(store, state):
    ready(store, "c1", 1)
    chunk = "c1" if state == "ready" else "c9"
    with nothing_changes(store):
        assert store.run(chunks_steps.begin(store.keys, "harold", chunk)) is None


# -- buffer -------------------------------------------------------------------------------------------------------------


def test_an_observation_makes_its_chunk_ready(store):
    seal(store, "c1", 1, 2)

    assert buffer(store, "c1") is Outcome.BUFFERED
    (chunk,) = chunks(store)
    assert chunk.ready
    assert decoding.as_observation(chunk.observation).message_ids == ("m1", "m2")


def test_the_second_of_two_observers_changes_nothing(store):
    """Breaks when buffer overwrites: time 0 two workers think, time 1 one stores, time 2 the other stores its own words."""
    seal(store, "c1", 1)
    late = chunks_steps.buffer(store.keys, "harold", observation(store, "c1"), "late", b"", b"entry")
    buffer(store, "c1", by="early")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_an_observer_that_repeats_itself_is_answered_as_before(store):
    seal(store, "c1", 1)
    buffer(store, "c1", by="w")
    with nothing_changes(store):
        assert buffer(store, "c1", by="w") is Outcome.BUFFERED


def test_an_observation_of_a_chunk_that_is_gone_is_not_kept(store):
    with nothing_changes(store):
        assert buffer(store, "c9") is Outcome.SUPERSEDED


def test_a_placeholder_and_its_reason_are_stored_in_one_step(store):
    seal(store, "c1", 1)
    placeholder = observation(store, "c1")

    assert (
        store.run(chunks_steps.buffer(store.keys, "harold", placeholder, "w", b"", b'{"reason":"no"}'))
        is Outcome.BUFFERED
    )
    assert store.client.lrange(store.keys.of("harold").rejected, 0, -1) == [b'{"reason":"no"}']


# -- observed -----------------------------------------------------------------------------------------------------------


# -- split --------------------------------------------------------------------------------------------------------------


def test_a_split_chunk_is_two_that_cover_the_same(store):
    seal(store, "c1", 1, 2, 3)

    assert store.run(splitting(store)) is Outcome.SPLIT
    first, second = chunks(store)
    assert [(c.messages, c.tokens, c.attempts, c.ready) for c in (first, second)] == [
        (1, 10, 2, False),
        (2, 20, 2, False),
    ]
    found = [store.client.zrange(store.keys.of("harold").sealed(c.id), 0, -1) for c in (first, second)]
    assert found == [[member(1)], [member(2), member(3)]]
    assert store.run(verify(store.keys)) == []


def test_the_halves_stand_between_their_neighbours(store):
    for n in (1, 3, 5):
        seal(store, f"c{n}", n, n + 1)
    store.run(splitting(store, "c3"))

    first, half, other, last = chunks(store)
    assert (first.id, last.id) == ("c1", "c5")
    assert first.seq < half.seq < other.seq < last.seq


def test_what_waits_for_a_chunk_waits_for_both_halves(store):
    """Breaks when a half gets a seq beyond its chunk's: a forced request waits for all up to the seq that was drawn last."""
    seal(store, "c1", 1, 2, 3, 4)
    drawn = record(store).seq
    store.run(splitting(store, n=2, tokens=20))
    store.run(splitting(store, chunks(store)[1].id))

    assert all(0 < chunk.seq <= drawn for chunk in chunks(store))
    assert len({chunk.seq for chunk in chunks(store)}) == 3


def test_a_chunk_sealed_after_many_splits_comes_last(store):
    seal(store, "c1", *range(8))
    for n in (4, 2, 1):
        store.run(splitting(store, chunks(store)[-1].id, n, 10 * n))
    seal(store, "c2", 9)

    assert chunks(store)[-1].id == "c2"
    assert store.run(verify(store.keys)) == []


def test_a_chunk_of_more_than_a_slice_is_split_whole(store):
    seal(store, "c1", *range(2_400))
    store.run(splitting(store, n=1_100, tokens=11_000))

    assert [chunk.messages for chunk in chunks(store)] == [1_100, 1_300]
    assert store.run(verify(store.keys)) == []


def test_a_half_of_more_members_than_lua_can_hand_to_one_command_is_whole(store):
    seal(store, "c1", 1)
    of = store.keys.of("harold")
    store.client.zadd(of.sealed("c1"), {f"{n}": AT * 2 + n for n in range(5_000)})
    store.run(splitting(store))

    assert [store.client.zcard(of.sealed(chunk.id)) for chunk in chunks(store)] == [1, 5_000]


@pytest.mark.parametrize("n", [0, -1, 3, 4])
def test_a_split_that_leaves_a_half_empty_changes_nothing(store, n):
    seal(store, "c1", 1, 2, 3)
    with nothing_changes(store):
        assert store.run(splitting(store, n=n)) is Outcome.SUPERSEDED


@pytest.mark.parametrize("state", ["gone", "ready"])
def test_a_chunk_gone_or_ready_is_not_split(store, state):
    ready(store, "c1", 1, 2)
    with nothing_changes(store):
        assert store.run(splitting(store, "c1" if state == "ready" else "c9")) is Outcome.SUPERSEDED


def test_a_chunk_that_no_index_names_is_not_split(store):
    seal(store, "c1", 1, 2)
    steps = splitting(store)
    store.client.zrem(store.keys.of("harold").chunks(HAROLD), "c1")
    with nothing_changes(store):
        assert store.run(steps) is Outcome.SUPERSEDED


@pytest.mark.parametrize("since", [b"1763600000000", None])
def test_halves_are_as_old_as_their_chunk(store, since):
    """Breaks without the default: a chunk of unknown age would be split half way, and scripts do not roll back."""
    seal(store, "c1", 1, 2)
    of = store.keys.of("harold")
    store.client.hset(of.chunk("c1"), "sealed_at", since) if since else store.client.hdel(of.chunk("c1"), "sealed_at")
    store.run(splitting(store))

    assert [store.client.hget(of.chunk(c.id), "sealed_at") for c in chunks(store)] == [since or b"0"] * 2


def test_a_second_split_of_one_chunk_changes_nothing(store):
    seal(store, "c1", 1, 2)
    late = splitting(store)
    store.run(splitting(store))
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_a_split_repeated_with_its_ids_answers_as_before(store):
    seal(store, "c1", 1, 2)
    asked = next(splitting(store))

    def again():
        return (yield asked)

    assert store.run(again()) == b"split"
    with nothing_changes(store):
        assert store.run(again()) == b"split"


def test_a_clear_planned_before_a_split_leaves_no_half_behind(store):
    """Breaks when split leaves the record's seq: time 0 clear reads c1, time 1 c1 is split, time 2 c1's keys are unlinked."""
    seal(store, "c1", 1, 2)
    store.run(interrupted(clear.clear(store.keys, "harold"), "clear", lambda: store.run(splitting(store))))

    assert contents(store) == {}


def test_an_activation_planned_before_a_split_changes_nothing(store):
    seal(store, "c1", 1, 2)
    ready(store, "c2", 3)
    late = activating(store, "c2")
    store.run(splitting(store))
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_halves_are_observed_and_activated_in_their_order(store):
    seal(store, "c1", 1, 2)
    store.run(splitting(store))
    halves = [chunk.id for chunk in chunks(store)]
    for half in halves:
        buffer(store, half)

    assert activate(store, *halves) is Outcome.ACTIVATED
    stored = store.run(reading.observations(store.keys, HAROLD))
    assert [s.observation.message_ids for s in stored] == [("m1",), ("m2",)]
    assert all(s.observation.created_at == AT for s in stored)
