"""reindex: what has no index of this version gets one, and nothing that was removed comes back with it."""

import pytest
from scene import (
    HAROLD,
    TTL,
    activate,
    breaches,
    buffer,
    call,
    erasing,
    filled,
    interrupted,
    key_of,
    observed,
    quarantined,
    ready,
    record,
    retry,
    seal,
    segment,
)

from om_api.recall.analysis import VERSION
from om_api.recall.segment import Segment
from om_api.recall.segment_format import MAGIC
from om_api.store.index import reindex as reindexing
from om_api.store.index.reindex import reindex

OLDER = MAGIC + b"\x01" + b"\xff\xff" + bytes(60)


def indexing(store, most=100, scope=HAROLD, threads=("t1", "t2")):
    return reindex(store.keys, scope, record(store, scope).epoch, threads, "auto", most)


def index(store, **how):
    return store.run(indexing(store, **how))


def held(store, *names):
    return [store.client.get(key_of(store, "segment", name)) for name in names]


def indexed(store):
    return store.client.hget(key_of(store, "record", HAROLD), "indexed")


def without(store, *names):
    for name in names:
        store.client.delete(key_of(store, "segment", name))


@pytest.mark.parametrize("older", [None, OLDER, b"?"], ids=["none", "another version", "no segment"])
def test_what_lacks_an_index_gets_the_one_its_observation_would_have_had(store, older):
    filled(store)
    before = held(store, "c4", "o1", "o2", "o3")
    for name in ("c4", "o1", "o3"):
        without(store, name)
        if older:
            ttl = TTL if name != "c4" else None
            store.client.set(key_of(store, "segment", name), older, ex=ttl)
    did = index(store)

    assert did == 3
    assert held(store, "c4", "o1", "o2", "o3") == before
    assert Segment(before[3]).thread == "t2"
    assert breaches(store) == []


def test_a_key_of_another_type_is_replaced_and_holds_nothing_up(store):
    """Breaks with a plain read: no sweep could look at anything of that resource."""
    filled(store)
    before = held(store, "o1", "o2")
    without(store, "o1", "o2")
    store.client.rpush(key_of(store, "segment", "o2"), "no text")

    assert index(store) == 2
    assert held(store, "o1", "o2") == before
    assert breaches(store) == []


def test_it_lives_as_long_as_the_messages_it_is_of(store):
    filled(store)
    without(store, "c4", "o1")
    index(store)
    own, source = (store.client.pttl(key_of(store, kind, "o1")) for kind in ("segment", "source"))

    assert abs(own - source) < 5_000
    assert store.client.ttl(key_of(store, "segment", "c4")) == -1


def test_a_chunk_that_is_not_ready_gets_its_index_with_its_observation(store):
    filled(store)

    assert index(store) == 0
    assert held(store, "c5") == [None]
    assert buffer(store, "c5").value == "buffered"
    assert held(store, "c5") != [None]


def test_once_nothing_lacks_one_the_record_says_so(store):
    filled(store)
    without(store, "o1", "o2", "o3")
    first, noted = index(store, most=2), indexed(store)
    second = index(store, most=2)

    assert (first, noted) == (2, None)
    assert (second, indexed(store)) == (1, str(VERSION).encode())


def test_many_are_made_in_steps_and_said_with_the_last_one(store, monkeypatch):
    monkeypatch.setattr(reindexing, "_AT_ONCE", 1)
    filled(store)
    without(store, "o1", "o2")

    said = []

    def watched(steps):
        reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            said.extend([indexed(store)] if getattr(step, "name", "") == "index" else [])
            reply = yield step

    assert store.run(watched(indexing(store))) == 2
    assert said == [None, None]
    assert None not in held(store, "o1", "o2")
    assert indexed(store) == str(VERSION).encode()


def test_observations_of_which_the_messages_have_expired_hold_nothing_up(store):
    """Catches a round that takes the same ones again and again, because the index of a thread outlives what it names."""
    filled(store)
    without(store, "o1", "o2", "o3")
    store.client.delete(key_of(store, "source", "o1"), key_of(store, "source", "o2"))
    index(store, most=1)

    assert held(store, "o3") != [None]


def test_no_index_comes_back_of_what_was_erased_meanwhile(store):
    """Time 0: a sweep reads what stands behind an observation. Time 1: a message of it is erased. Time 2: the sweep writes."""
    filled(store)
    without(store, "o3")
    store.run(interrupted(indexing(store), "index", lambda: store.run(erasing(store, "turn 31"))))

    assert held(store, "o3") == [None]
    assert indexed(store) is None
    assert breaches(store) == []


def test_a_chunk_that_is_activated_meanwhile_has_an_index_that_goes_with_its_messages(store):
    filled(store)
    without(store, "c4")
    store.run(interrupted(indexing(store), "index", lambda: activate(store, "c4", by="a4")))

    assert held(store, "c4") != [None]
    assert breaches(store) == []


def test_no_index_comes_back_of_what_is_observed_anew_meanwhile(store):
    quarantined(store)
    activate(store, "c1")
    without(store, "c1")
    store.run(interrupted(indexing(store), "index", lambda: retry(store)))

    assert list(store.client.scan_iter(f"{store.keys.of('harold').base}:segment:*")) == []
    assert breaches(store) == []


# -- the script -------------------------------------------------------------------------------------------------------


def script(store, name, n, epoch=None, version="", words=b"made"):
    of = store.keys.of("harold")
    keys = [of.record(HAROLD), of.segment(name), of.chunk(name), of.sealed(name), of.source(name)]
    return call(store, "index", keys, [epoch or record(store).epoch, version, n, words])


@pytest.mark.parametrize(("name", "has"), [("c4", 2), ("o2", 2)])
def test_an_index_of_fewer_or_more_messages_than_there_are_is_refused(store, name, has):
    filled(store)
    was = held(store, name)
    said = [script(store, name, n) for n in (has - 1, has + 1)]

    assert said == [b"indexed"] * 2
    assert held(store, name) == was
    assert script(store, name, has) == b"indexed"
    assert held(store, name) == [b"made"]


def test_an_index_made_in_another_epoch_is_refused(store):
    filled(store)
    was = held(store, "o2")

    assert script(store, "o2", 2, epoch="of before", version="1") == b"superseded"
    assert (held(store, "o2"), indexed(store)) == (was, None)


def test_an_index_of_a_chunk_that_is_not_ready_is_refused(store):
    filled(store)
    script(store, "c5", 3)

    assert held(store, "c5") == [None]


def test_an_index_of_what_is_gone_is_refused(store):
    filled(store)
    script(store, "x9", 1)

    assert held(store, "x9") == [None]


# -- what the scripts of a memory do to it ------------------------------------------------------------------------------


def test_a_chunk_is_ready_and_indexed_in_one_step(store):
    seal(store, "c1", 1, 2)
    before = held(store, "c1")
    made = segment(store, "c1")
    buffer(store, "c1")

    assert (before, held(store, "c1")) == ([None], [made])


def test_what_comes_too_late_indexes_nothing(store):
    """Catches an index of a chunk that is gone, written by a worker who lost its race."""
    ready(store, "c1", 1, 2)
    was = held(store, "c1")
    store.client.set(key_of(store, "segment", "c1"), b"the first")
    late = buffer(store, "c1", by="another")

    assert (late.value, was != [b"the first"], held(store, "c1")) == ("superseded", True, [b"the first"])


def test_behind_an_observation_it_expires_with_the_messages(store):
    observed(store, "o1", 1, 2)
    own, source = (store.client.pttl(key_of(store, kind, "o1")) for kind in ("segment", "source"))

    assert 0 < source <= TTL * 1000
    assert abs(own - source) < 5_000
