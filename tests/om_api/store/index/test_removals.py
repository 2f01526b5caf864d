"""Whatever ends or moves the messages of a chunk ends its index in the same step."""

import pytest
from scene import (
    HAROLD,
    activate,
    activated,
    breaches,
    buffer,
    cleared,
    clearing_thread,
    exported,
    filled,
    import_,
    key_of,
    moving,
    quarantined,
    ready,
    reflect,
    restored,
    retry,
    seal,
    words,
)

from om_api.domain.values import Chunk
from om_api.recall.segment import Segment, check_of
from om_api.store.erasing.erase import Eraser, a_message
from om_api.store.memory import chunks, clear, reading, scope_state


def indexed(store):
    base = store.keys.of("harold").segment("")
    return {key.decode().removeprefix(base) for key in store.client.scan_iter(f"{base}*", count=1000)}


def checks(store, name):
    """Of which messages the index of a chunk is."""
    made = Segment(store.client.get(key_of(store, "segment", name)))
    return [made.check(place) for place in range(made.size)]


@pytest.fixture
def every(store):
    """Every tier; of each that was observed there is an index."""
    filled(store)

    assert indexed(store) == {"o1", "o2", "o3", "c4"}
    return store


def erase(store, name):
    def scopes():
        return [HAROLD]
        yield

    return store.run(
        Eraser(store.keys, store.clock, scopes, words, lambda _: None).erase("harold", a_message("harold", name, None))
    )


def forget(store, name):
    (found,) = [one for one in store.run(reading.observations(store.keys, HAROLD)) if one.observation.id == name]
    epoch = store.run(scope_state.look(store.keys, HAROLD)).record.epoch
    return store.run(clear.forget(store.keys, HAROLD, epoch, found))


def test_an_observation_that_is_forgotten_takes_its_index_with_it(every):
    assert forget(every, "o2").value == "cleared"
    assert indexed(every) == {"o1", "o3", "c4"}
    assert breaches(every) == []


@pytest.mark.parametrize(
    ("name", "gone"), [("m1", "o1"), ("m3", "o2"), ("m5", "c4"), ("m31", "o3"), ("m7", ""), ("m10", "")]
)
def test_the_index_of_what_held_an_erased_message_goes_with_it(every, name, gone):
    """Its places and words are those of messages that stand elsewhere now, or nowhere."""
    erase(every, name)

    assert gone not in indexed(every)
    assert breaches(every) == []
    for left in indexed(every):
        assert check_of(name) not in checks(every, left)


def test_what_is_left_of_an_erased_chunk_is_indexed_when_it_is_observed_again(every):
    erase(every, "m5")
    (fresh,) = [chunk.id for chunk in store_chunks(every) if chunk.messages == 1]
    buffer(every, fresh)

    assert checks(every, fresh) == [check_of("m6")]


def store_chunks(store) -> list[Chunk]:
    return store.run(scope_state.look(store.keys, HAROLD)).chunks


def test_a_memory_that_is_cleared_leaves_no_index(every):
    cleared(every)

    assert indexed(every) == set()


def test_a_thread_that_is_cleared_leaves_no_index_of_its_own(every):
    every.run(clearing_thread(every, "t1"))

    assert indexed(every) == {"o3"}
    assert breaches(every) == []


def test_a_chunk_that_is_observed_anew_gives_its_index_away(store):
    quarantined(store)
    store.client.set(key_of(store, "segment", "c1"), b"of the placeholder")
    retry(store)

    assert indexed(store) == set()


def test_so_does_one_that_a_placeholder_stands_for(store):
    activated(store)
    store.client.set(key_of(store, "segment", "c1"), b"of the placeholder", ex=100)
    retry(store)

    assert indexed(store) == set()


def test_a_chunk_that_is_split_has_none_and_its_halves_get_theirs(store):
    seal(store, "c1", 1, 2, 3)
    (whole,) = store_chunks(store)
    store.run(chunks.split(store.keys, HAROLD, whole, 1, 10, 2))
    first, second = store_chunks(store)
    before = indexed(store)
    buffer(store, first.id)
    buffer(store, second.id)

    assert before == set()
    assert (checks(store, first.id), checks(store, second.id)) == ([check_of("m1")], [check_of("m2"), check_of("m3")])


@pytest.mark.parametrize("moved", ["reflected", "restored"])
def test_what_moves_no_message_leaves_the_index_where_it_was(every, moved):
    before = lifetimes(every)
    if moved == "reflected":
        assert reflect(every, "o2", "o3").value == "reflected"
    else:
        assert restored(every, 0).value == "restored"

    assert all(abs(ttl - before[name]) < 5 for name, ttl in lifetimes(every).items())
    assert indexed(every) == before.keys()
    assert breaches(every) == []


def lifetimes(store):
    return {name: store.client.ttl(key_of(store, "segment", name)) for name in indexed(store)}


def test_a_memory_that_moves_to_the_other_scope_takes_its_index_along(every):
    buffer(every, "c5")

    assert every.run(moving(every)).value == "activated"
    assert indexed(every) == {"o1", "o2", "o3", "c4", "c5"}
    assert min(lifetimes(every).values()) > 0
    assert breaches(every) == []


def test_an_import_brings_the_index_of_what_was_observed(every):
    """A file holds none: it is made of the messages as they come."""
    before = {name: checks(every, name) for name in indexed(every)}
    file = exported(every)
    cleared(every)
    import_(every, file)

    assert b"omr" not in file
    assert {name: checks(every, name) for name in before} == before
    assert breaches(every) == []
    assert activate(every, "c4", by="a4").value == "activated"
    assert every.client.ttl(key_of(every, "segment", "c4")) > 0


def test_a_chunk_that_nobody_can_read_is_observed_without_an_index(store):
    """'' stands for none: whoever recalls reads the messages."""
    ready(store, "c1", 1)
    quarantined(store, "c2", 2)

    assert indexed(store) == {"c1"}
    assert breaches(store) == []
