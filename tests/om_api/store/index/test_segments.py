"""segments: the index of each chunk, the messages of those without one, and single messages by their place."""

import pytest
from forged_segments import FORGED, forging
from scene import HAROLD, activate, filled, key_of, member, observed, push, seal, trips

from om_api.recall.segment import Segment
from om_api.store.index import segments as segments_
from om_api.store.index.listing import MemoryPlace
from om_api.store.index.segments import Members, Stretch, members, segments, stretches

NAMES = ("c4", "c5", "o1", "o2", "o3")


def place(thread=""):
    return MemoryPlace(thread, HAROLD, "e", "0")


def read(store, **threads):
    wanted = {name: place(threads.get(name, "")) for name in threads or NAMES}
    return store.run(trips(segments(store.keys, "harold", wanted)))


def test_what_was_observed_has_a_segment_and_what_was_not_its_messages(store):
    filled(store)
    found, took = read(store)

    assert {name: type(kept) for name, kept in found.items()} == {
        **dict.fromkeys(["c4", "o1", "o2", "o3"], Segment),
        "c5": Members,
    }
    assert (found["o3"].thread, found["o3"].size) == ("t2", 2)
    assert found["c5"].thread == "t1"
    assert [one for one, _ in found["c5"].pairs] == [member(7), member(8), member(9)]
    assert took == 2


def test_where_each_has_a_segment_they_take_one_round_trip(store):
    filled(store)

    assert read(store, c4="", o1="t1")[1] == 1


@pytest.mark.parametrize(
    "value", [b"", b"no segment", b"omr\x01\xff\xff" + bytes(40)], ids=["none", "broken", "another version"]
)
def test_a_segment_that_cannot_be_read_costs_time_and_no_message(store, value):
    filled(store)
    key = key_of(store, "segment", "o3")
    store.client.set(key, value, keepttl=True) if value else store.client.delete(key)
    found, _ = read(store, o3="t2")

    assert found["o3"] == Members("t2", store.client.zrange(key_of(store, "source", "o3"), 0, -1, withscores=True))


@pytest.mark.parametrize("what", FORGED)
def test_nor_does_one_that_was_forged(store, what):
    filled(store)
    forging(store, "o3", what)
    found, _ = read(store, o3="t2")

    assert found["o3"] == Members("t2", store.client.zrange(key_of(store, "source", "o3"), 0, -1, withscores=True))


def test_nor_does_a_key_of_another_type_and_it_hides_no_other(store):
    filled(store)
    store.client.delete(key_of(store, "segment", "o2"))
    store.client.rpush(key_of(store, "segment", "o2"), "no text")
    found = store.run(segments(store.keys, "harold", dict.fromkeys(NAMES, place())))

    assert {name: type(kept) for name, kept in found.items()} == {
        **dict.fromkeys(["c4", "o1", "o3"], Segment),
        **dict.fromkeys(["c5", "o2"], Members),
    }


def test_what_is_gone_is_left_out(store):
    filled(store)

    assert read(store, x1="", x2="t1")[0] == {}


def test_many_are_read_in_parts(store, monkeypatch):
    monkeypatch.setattr(segments_, "_AT_ONCE", 2)
    filled(store)
    found, took = read(store)

    assert sorted(found) == sorted(NAMES)
    assert took == 4  # of three parts one lacks a segment


def test_messages_are_read_while_they_are_sealed_and_behind_their_observation(store):
    """A chunk's thread is its own; behind an observation, of which the hash is gone, it is the one of its index."""
    seal(store, "c1", 1, 2, thread="t2")
    before = store.run(members(store.keys.of("harold"), {"c1": ""}))
    observed(store, "o2", 3)
    after = store.run(members(store.keys.of("harold"), {"o2": "t1"}))

    assert (before["c1"].thread, [one for one, _ in before["c1"].pairs]) == ("t2", [member(1, "t2"), member(2, "t2")])
    assert (after["o2"].thread, [one for one, _ in after["o2"].pairs]) == ("t1", [member(3)])


def said(store, *wanted):
    read = store.run(stretches(store.keys, "harold", wanted))
    return [[message and (message.id, message.thread_id) for message in some] for some in read]


def test_messages_are_read_by_their_place_wherever_their_chunk_is(store):
    filled(store)
    found = said(store, Stretch("t1", "c5", 1, 2), Stretch("t2", "o3", 0, 0), Stretch("t1", "c4", 1, 5))

    assert found == [[("m8", "t1"), ("m9", "t1")], [("m31", "t2")], [("m6", "t1")]]


def test_a_place_is_the_same_once_the_chunk_is_activated(store):
    filled(store)
    before = said(store, Stretch("t1", "c4", 0, 1))
    activate(store, "c4", by="a4")

    assert said(store, Stretch("t1", "c4", 0, 1)) == before == [[("m5", "t1"), ("m6", "t1")]]


def test_what_is_raw_is_read_by_its_place_too(store):
    filled(store)

    assert said(store, Stretch("t1", "", 1, 1), Stretch("t2", "", 0, 9), Stretch("t9", "", 0, 0)) == [
        [("m11", "t1")],
        [("m33", "t2")],
        [],
    ]
    assert Stretch("t1", "", 3, 7).size == 5


def test_a_chunk_that_is_gone_gives_no_message_and_one_that_is_none_gives_none(store):
    filled(store)
    push(store, 60)
    store.client.zadd(key_of(store, "sealed", "c5"), {b"no JSON": 0})

    assert said(store, Stretch("t1", "x1", 0, 9), Stretch("t1", "c5", 0, 1)) == [[], [None, ("m7", "t1")]]
