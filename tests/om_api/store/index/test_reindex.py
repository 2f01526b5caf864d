"""The index of each chunk: made where it is missing, and ended with its messages."""

from scene import (
    HAROLD,
    TTL,
    activate,
    activated,
    breaches,
    buffer,
    call,
    cleared,
    clearing_thread,
    emptied,
    erasing,
    filled,
    interrupted,
    key_of,
    quarantined,
    record,
    retry,
    seal,
    words,
)
from stores import empty, fresh

from om_api.domain.values import Chunk
from om_api.recall.analysis import VERSION
from om_api.recall.segment import Segment, check_of
from om_api.recall.segment_format import MAGIC
from om_api.store.erasing.erase import Eraser, a_message
from om_api.store.index.reindex import reindex
from om_api.store.memory import chunks, clear, reading, scope_state

OLDER = MAGIC + b"\x01" + b"\xff\xff" + bytes(60)


def indexing(store, most=100):
    return reindex(store.keys, HAROLD, record(store).epoch, ("t1", "t2"), "auto", most)


def index(store, most=100):
    return store.run(indexing(store, most))


def held(store, *names):
    return [store.client.get(key_of(store, "segment", name)) for name in names]


def indexed(store):
    return store.client.hget(key_of(store, "record", HAROLD), "indexed")


def without(store, *names):
    for name in names:
        store.client.delete(key_of(store, "segment", name))


def test_what_lacks_an_index_gets_the_one_its_observation_would_have_had(store):
    """Breaks with a plain read: a key of another type holds up the sweep of that resource."""
    for older in fresh(store, [None, OLDER, b"?", ["no text"]]):
        filled(store)
        before = held(store, "c4", "o1", "o2", "o3")
        without(store, "c4", "o1", "o3")
        for name in ("c4", "o1", "o3") if older else ():
            key = key_of(store, "segment", name)
            store.client.rpush(key, *older) if isinstance(older, list) else store.client.set(key, older)
            store.client.expire(key, TTL) if name != "c4" else None
        assert index(store) == 3, older
        assert held(store, "c4", "o1", "o2", "o3") == before, older
        assert Segment(before[3]).thread == "t2"
        own, source = (store.client.pttl(key_of(store, kind, "o1")) for kind in ("segment", "source"))
        assert (abs(own - source) < 5_000, store.client.ttl(key_of(store, "segment", "c4"))) == (True, -1)
        assert breaches(store) == []


def test_once_nothing_lacks_one_the_record_says_so_and_expired_messages_hold_nothing_up(store):
    """Catches a round that takes the same ones again and again, because the index of a thread outlives what it names."""
    filled(store)
    without(store, "o1", "o2", "o3")
    assert (index(store, most=2), indexed(store)) == (2, None)
    assert (index(store, most=2), indexed(store)) == (1, str(VERSION).encode())

    filled(emptied(store))
    without(store, "o1", "o2", "o3")
    store.client.delete(key_of(store, "source", "o1"), key_of(store, "source", "o2"))
    index(store, most=1)

    assert held(store, "o3") != [None]


def test_no_index_comes_back_of_what_changed_meanwhile(store):
    """Time 0: a sweep reads what stands behind an observation. Time 1: a message of it is erased. Time 2: the sweep writes."""
    filled(store)
    without(store, "o3")
    store.run(interrupted(indexing(store), "index", lambda: store.run(erasing(store, "turn 31"))))
    assert (held(store, "o3"), indexed(store)) == ([None], None)
    assert breaches(store) == []
    empty(store)  # it is observed anew
    quarantined(store)
    activate(store, "c1")
    without(store, "c1")
    store.run(interrupted(indexing(store), "index", lambda: retry(store)))
    assert list(store.client.scan_iter(f"{store.keys.of('harold').base}:segment:*")) == []
    assert breaches(store) == []
    empty(store)  # one that is activated has an index that goes with its messages
    filled(store)
    without(store, "c4")
    store.run(interrupted(indexing(store), "index", lambda: activate(store, "c4", by="a4")))
    assert held(store, "c4") != [None]
    assert breaches(store) == []


def script(store, name, n, epoch=None, version="", words=b"made"):
    of = store.keys.of("harold")
    keys = [of.record(HAROLD), of.segment(name), of.chunk(name), of.sealed(name), of.source(name)]
    return call(store, "index", keys, [epoch or record(store).epoch, version, n, words])


def test_an_index_that_is_not_of_what_stands_there_is_refused(store):
    filled(store)
    names = ("c4", "o2", "c5", "x9")
    was = held(store, *names)
    for name, n in (("c4", 1), ("c4", 3), ("o2", 1), ("o2", 3), ("c5", 3), ("x9", 1)):
        script(store, name, n)
        assert held(store, *names) == was, (name, n)
    assert script(store, "o2", 2, epoch="of before", version="1") == b"superseded"
    assert (held(store, *names), indexed(store)) == (was, None)
    assert script(store, "c4", 2) == script(store, "o2", 2) == b"indexed"
    assert held(store, "c4", "o2") == [b"made", b"made"]


def kept_indexes(store):
    base = store.keys.of("harold").segment("")
    return {key.decode().removeprefix(base) for key in store.client.scan_iter(f"{base}*", count=1000)}


def checks(store, name):
    """Of which messages the index of a chunk is."""
    made = Segment(store.client.get(key_of(store, "segment", name)))
    return [made.check(place) for place in range(made.size)]


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


def test_the_index_of_what_held_an_erased_message_goes_with_it(store):
    """Its places and words are those of messages that stand elsewhere now, or nowhere."""
    for name, gone in fresh(store, [("m1", "o1"), ("m3", "o2"), ("m5", "c4"), ("m31", "o3"), ("m7", ""), ("m10", "")]):
        filled(store)
        erase(store, name)
        assert gone not in kept_indexes(store), name
        assert breaches(store) == [], name
        for left in kept_indexes(store):
            assert check_of(name) not in checks(store, left), (name, left)
        if name == "m5":  # what is left is indexed when it is observed again
            (again,) = [chunk.id for chunk in store_chunks(store) if chunk.messages == 1]
            buffer(store, again)
            assert checks(store, again) == [check_of("m6")]


def store_chunks(store) -> list[Chunk]:
    return store.run(scope_state.look(store.keys, HAROLD)).chunks


def test_what_is_forgotten_or_cleared_takes_its_index_with_it(store):
    filled(store)
    assert kept_indexes(store) == {"o1", "o2", "o3", "c4"}
    assert forget(store, "o2").value == "cleared"
    assert kept_indexes(store) == {"o1", "o3", "c4"}
    assert breaches(store) == []
    store.run(clearing_thread(store, "t1"))
    assert kept_indexes(store) == {"o3"}
    assert breaches(store) == []
    cleared(store)
    assert kept_indexes(store) == set()


def test_a_chunk_that_is_observed_anew_gives_its_index_away(store):
    for put in fresh(store, [quarantined, activated]):  # it is ready, or a placeholder stands for it
        put(store)
        store.client.set(key_of(store, "segment", "c1"), b"of the placeholder", ex=100)
        retry(store)
        assert kept_indexes(store) == set(), put


def test_a_chunk_that_is_split_has_none_and_its_halves_get_theirs(store):
    seal(store, "c1", 1, 2, 3)
    (whole,) = store_chunks(store)
    store.run(chunks.split(store.keys, HAROLD, whole, 1, 10, 2))
    first, second = store_chunks(store)
    before = kept_indexes(store)
    buffer(store, first.id)
    buffer(store, second.id)

    assert before == set()
    assert (checks(store, first.id), checks(store, second.id)) == ([check_of("m1")], [check_of("m2"), check_of("m3")])
