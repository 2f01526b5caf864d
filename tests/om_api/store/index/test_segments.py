"""segments: the index of each chunk, the messages of those without one, and single messages by their place."""

from forged_segments import FORGED, forging
from scene import AT, HAROLD, activate, filled, key_of, member, trips

from om_api.recall.segment import Findable, Segment
from om_api.store.index.indexing import findable, of_messages
from om_api.store.index.listing import MemoryPlace
from om_api.store.index.segments import Members, Stretch, segments, stretches

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
    assert (found["o3"].thread, found["o3"].size, found["c5"].thread, took) == ("t2", 2, "t1", 2)
    assert [one for one, _ in found["c5"].pairs] == [member(7), member(8), member(9)]
    assert read(store, c4="", o1="t1")[1] == 1
    assert read(store, x1="", x2="t1")[0] == {}


def test_a_segment_that_cannot_be_read_costs_time_and_no_message_and_hides_no_other(store):
    filled(store)
    key = key_of(store, "segment", "o3")
    kept, ttl = store.client.get(key), store.client.ttl(key)
    whole = Members("t2", store.client.zrange(key_of(store, "source", "o3"), 0, -1, withscores=True))
    values = {"broken": b"no segment", "another version": b"omr\x01\xff\xff" + bytes(40), "another type": ["no text"]}
    for what in ("none", *values, *FORGED):
        store.client.delete(key)
        if isinstance(value := values.get(what, kept if what in FORGED else None), list):
            store.client.rpush(key, *value)
        elif value:
            store.client.set(key, value, ex=ttl)
        if what in FORGED:
            forging(store, "o3", what)
        found = store.run(segments(store.keys, "harold", {"o1": place("t1"), "o3": place("t2")}))
        store.client.expire(key, ttl)
        assert (type(found["o1"]), found["o3"]) == (Segment, whole), what


def said(store, *wanted):
    read = store.run(stretches(store.keys, "harold", wanted))
    return [[message and (message.id, message.thread_id) for message in some] for some in read]


def test_messages_are_read_by_their_place_wherever_their_chunk_is(store):
    filled(store)
    found = said(store, Stretch("t1", "c5", 1, 2), Stretch("t2", "o3", 0, 0), Stretch("t1", "c4", 1, 5))
    assert found == [[("m8", "t1"), ("m9", "t1")], [("m31", "t2")], [("m6", "t1")]]
    before = said(store, Stretch("t1", "c4", 0, 1))
    activate(store, "c4", by="a4")
    assert said(store, Stretch("t1", "c4", 0, 1)) == before == [[("m5", "t1"), ("m6", "t1")]]
    raw = said(store, Stretch("t1", "", 1, 1), Stretch("t2", "", 0, 9), Stretch("t9", "", 0, 0))
    assert raw == [[("m11", "t1")], [("m33", "t2")], []]
    assert Stretch("t1", "", 3, 7).size == 5
    store.client.zadd(key_of(store, "sealed", "c5"), {b"no JSON": 0})  # a chunk that is gone, and a broken member
    assert said(store, Stretch("t1", "x1", 0, 9), Stretch("t1", "c5", 0, 1)) == [[], [None, ("m7", "t1")]]


def test_a_member_that_is_no_message_keeps_its_place_and_has_no_words():
    """Catches places that slide, so that every hit behind it names its neighbour."""
    pairs = [(b"no JSON", AT), (member(1), AT + 1000), (b"\xff", float("inf")), (member(2), AT + 2000)]

    found = findable(pairs, "t1", "harold")
    assert found[1] == Findable("m1", "user", AT + 1000, "turn 1")
    assert [each.text for each in found] == ["", "turn 1", "", "turn 2"]
    assert of_messages([None]) == [Findable("", "", 0, "")]
