"""Items, their namespaces, records and filters: what has expired is nobody's, and leaves no key."""

import itertools
import json
import math
import time

import pytest
from world import wait_until

from om_api.domain.errors import InvalidInputError
from om_api.store.driver.slots import slot_of
from om_api.store.items.item_filter import check_filter, matches
from om_api.store.items.item_records import LONGEST_TTL_MINUTES, ItemPut, body_of, item_of, ttl_ms_of
from om_api.store.items.keeping_items import get_items, items_under, put_items, use_items
from om_api.store.items.namespaces import inhabited, name_of, namespace_of, tell, under

NOTES = ("harold", "notes")


def put(store, key, value=None, ttl_ms=0, namespace=NOTES):
    store.run(put_items(store.keys, store.clock, [ItemPut(namespace, key, body_of(value or {"key": key}), ttl_ms)]))


def drop(store, key, namespace=NOTES):
    store.run(put_items(store.keys, store.clock, [ItemPut(namespace, key, None)]))


def get(store, key, namespace=NOTES):
    return store.run(get_items(store.keys, [(namespace, key)]))[0]


def found(store, *prefix):
    return [item.key for item in store.run(items_under(store.keys, prefix))]


def keys_of(store, namespace=NOTES):
    name = name_of(namespace)
    return store.keys.items(name), store.keys.expiring(name)


def lifetimes(store):
    return [store.client.pttl(key) for key in keys_of(store)]


def expire(store, key):
    """As if a key's time was over, nobody had looked since, and more had expired before than are taken out at once."""
    for name in keys_of(store):
        store.client.persist(name)
    store.client.zadd(keys_of(store)[1], {**{f"old-{n}": 1 for n in range(1000)}, key: 2})


def test_an_item_is_read_as_it_was_put(store):
    put(store, "a", {"text": "x"})
    item = get(store, "a")
    assert (item.namespace, item.key, item.value, item.ttl_ms) == (NOTES, "a", {"text": "x"}, 0)
    assert item.created == item.updated
    assert abs(item.created / 1e6 - time.time()) < 60
    assert get(store, "b") is get(store, "a", ("harold",)) is None
    assert store.run(get_items(store.keys, [])) == []
    odd = ["", "a\0b", "\ud800", "ä" * 300, "put"]
    store.run(put_items(store.keys, store.clock, [ItemPut(NOTES, key, body_of({"it": 1})) for key in [*odd, "a"]]))
    assert [get(store, key).value for key in odd] == [{"it": 1}] * 5
    assert found(store, "harold") == ["a", *odd]  # in the order in which they were kept first
    store.client.hset(keys_of(store)[0], "spoilt", "x")  # a broken record hides no other
    assert found(store, "harold") == ["a", *odd]
    put(store, "spoilt")
    assert found(store, "harold") == ["a", *odd, "spoilt"]
    store.client.hset(keys_of(store)[0], "spoilt", "x")  # a broken record hides no other
    assert found(store, "harold") == ["a", *odd]
    put(store, "spoilt")
    assert found(store, "harold") == ["a", *odd, "spoilt"]


def test_one_that_is_put_again_is_as_old_as_before_and_one_that_was_dropped_is_not(store):
    put(store, "a")
    first = get(store, "a")
    put(store, "a", {"again": True})
    second = get(store, "a")
    drop(store, "a")
    put(store, "a")

    assert (second.value, second.created) == ({"again": True}, first.created)
    assert second.updated > second.created
    assert get(store, "a").created > second.created


def test_where_nothing_stays_the_keys_go_with_the_item_that_lives_longest(store):
    put(store, "a", ttl_ms=60_000)
    put(store, "b", ttl_ms=600_000)
    assert lifetimes(store) == pytest.approx([600_000] * 2, rel=0.1)
    put(store, "stays")
    assert lifetimes(store) == [-1, -1]
    drop(store, "stays")
    assert lifetimes(store) == pytest.approx([600_000] * 2, rel=0.1)
    put(store, "a")  # anew, without a lifetime
    drop(store, "b")
    assert lifetimes(store) == [-1, -2]
    drop(store, "a")
    assert [store.client.exists(key) for key in keys_of(store)] == [0, 0]


def test_an_item_lives_for_its_time_and_not_longer(store):
    put(store, "stays")
    put(store, "short", ttl_ms=200)
    assert get(store, "stays").ttl_ms == 0
    wait_until(lambda: get(store, "short") is None, "the end of an item")

    assert found(store, "harold") == ["stays"]
    put(store, "later")
    assert set(store.client.hkeys(keys_of(store)[0])) == {b"stays", b"later"}


def test_use_begins_a_lifetime_anew_and_nothing_else(store):
    put(store, "a", ttl_ms=600_000)
    put(store, "stays")
    item, now = get(store, "a"), time.time() * 1000
    store.client.zadd(keys_of(store)[1], {"a": now + 60_000})
    store.run(use_items(store.keys, [item, get(store, "stays")]))

    assert get(store, "a") == item
    assert store.client.zscore(keys_of(store)[1], "a") == pytest.approx(now + 600_000, abs=60_000)
    assert store.client.zcard(keys_of(store)[1]) == 1


def test_what_has_expired_is_not_brought_back_by_a_use_and_is_new_when_it_is_put(store):
    put(store, "a", ttl_ms=600_000)
    put(store, "stays")
    item = get(store, "a")
    expire(store, "a")
    store.run(use_items(store.keys, [item]))
    assert get(store, "a") is None

    put(store, "a", ttl_ms=60_000)
    expire(store, "a")
    put(store, "a")
    assert get(store, "a").created > item.created
    assert get(store, "a").ttl_ms == 0


DAY_MS = 86_400_000
HOSTILE = [(name,) for name in ("a}b", "{a}", "a.b", "a/b", "a%2Fb", "ä*?[]^", "a:b", "\ud800\0")]
HOSTILE += [("a", "b"), ("a", "}:")]


def age(store, *namespaces, ms=DAY_MS + 60_000):
    """Date the last writes to namespaces of "a" a day back."""
    for namespace in namespaces:
        store.client.zincrby(store.keys.namespaces(name_of(("a",))), -ms, name_of(namespace))
    store.client.zincrby(store.keys.namespace_roots, -ms, name_of(("a",)))


def names(store, *prefix):
    return [namespace_of(one.name) for one in store.run(under(store.keys, prefix))]


def test_a_namespace_is_read_as_it_was_written_and_chooses_no_key(store):
    for namespace in HOSTILE:
        name = name_of(namespace)
        keys = [store.keys.items(name), store.keys.expiring(name)]
        assert namespace_of(name) == namespace
        assert all(key.count("{") == key.count("}") == 1 for key in keys), namespace
        assert len({slot_of(("GET", key)) for key in keys}) == 1, namespace
    assert len({name_of(namespace) for namespace in HOSTILE}) == len(HOSTILE)
    for namespace in ((), ("",), ("a", "")):
        with pytest.raises(InvalidInputError, match="needs labels"):
            name_of(namespace)


def test_those_under_a_prefix_are_found_by_whole_labels(store):
    every = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "bc"), ("ab",), ("b", "a")]
    for namespace in every:
        put(store, "".join(namespace), namespace=namespace)

    assert names(store, "a", "b") == [("a", "b"), ("a", "b", "c")]
    assert names(store, "a") == every[:4]
    assert sorted(names(store)) == sorted(every)
    assert names(store, "c") == found(store, "c") == []
    assert found(store, "a", "b") == ["ab", "abc"]
    assert found(store) == ["a", "ab", "abc", "abc", "ab", "ba"]


def test_one_that_holds_nothing_is_not_inhabited_and_let_go_after_a_day(store):
    for label in ("kept", "left"):
        put(store, "k", namespace=("a", label))
    drop(store, "k", namespace=("a", "left"))

    assert store.run(inhabited(store.keys, store.run(under(store.keys, ("a",))))) == ["/a/kept"]
    assert names(store, "a") == [("a", "kept"), ("a", "left")]
    age(store, ("a", "kept"), ("a", "left"))
    store.run(inhabited(store.keys, store.run(under(store.keys, ("a",)))))
    assert names(store, "a") == [("a", "kept")]


def test_one_that_is_put_to_meanwhile_is_kept(store):
    """Time 0: a listing sees that nothing is there. Time 1: the index is told of it again. Time 2: the listing lets go."""
    store.run(tell(store.keys, store.clock, [("a", "b")]))
    age(store, ("a", "b"))
    listed = store.run(under(store.keys, ("a",)))
    store.run(tell(store.keys, store.clock, [("a", "b")]))
    assert store.run(inhabited(store.keys, listed)) == []

    assert names(store, "a") == [("a", "b")]


HEAD = b"1700000000000001 1700000000000002 60000\n"


def test_a_value_comes_back_as_it_was_written():
    values = [{}, {"a": [1, 2.5, None, True, {"b": "\ud800\n\0ä"}]}, {"": 10**30}, {"text": "1 2 3\n{}\n"}]
    for value, fields in itertools.product(values, (None, False, ["a", "b[*].c\n"])):
        item = item_of(("a",), "k", HEAD + body_of(value, fields))
        assert (item.value, item.fields) == (value, fields)
        assert (item.created, item.updated, item.ttl_ms) == (1700000000000001, 1700000000000002, 60_000)
    for record in (b"", b"x", HEAD, HEAD + b"null\n[", b"a b c\nnull\n{}", HEAD + b"null\n7", b"\xff\n\n"):
        assert item_of(("a",), "k", record) is None, record


def deep():
    value = {}
    for _ in range(100_000):
        value = {"a": value}
    return value


def test_a_value_or_an_index_that_cannot_be_is_refused():
    for value in ("text", [1], {"a": {1: 2}}, {"a": [{None: 1}]}, {"a": {1, 2}}, {"a": b"x"}, {"a": math.nan}, deep()):
        with pytest.raises(InvalidInputError, match="must be an object of JSON"):
            body_of(value)
    for fields in ("text", True, 0, [5], [None], {"a": 1}):
        with pytest.raises(InvalidInputError, match="index is"):
            body_of({}, fields)
        assert item_of(("a",), "k", HEAD + json.dumps(fields).encode() + b"\n{}") is None, fields


def test_a_lifetime_is_in_minutes_and_bounded():
    assert [ttl_ms_of(minutes) for minutes in (None, 1, 0.5, 1e-9)] == [0, 60_000, 30_000, 1]
    for minutes in (0, -1, math.nan, math.inf, LONGEST_TTL_MINUTES + 1, "5", True):
        with pytest.raises(InvalidInputError, match="ttl is"):
            ttl_ms_of(minutes)
            pytest.fail(f"{minutes} is permitted")


VALUE = {"n": 5, "text": "7", "word": "red", "none": None, "tags": ["a", "b"], "deep": {"x": 1, "y": {"z": 2}}}


def test_a_filter_keeps_what_it_says():
    kept = [
        None,
        {},
        {"n": 5},
        {"absent": None},
        {"n": {"$eq": 5}},
        {"absent": {"$ne": 5}},
        {"n": {"$gt": 4, "$lt": 6}},
    ]
    kept += [{"n": {"$gte": 5}}, {"n": {"$lte": 5}}, {"text": {"$gt": 6}}, {"tags": ["a", "b"]}, {"deep": {"x": 1}}]
    kept += [{"deep": {"y": {"z": {"$gte": 2}}}}]
    left_out = [{"n": 5, "word": "blue"}, {"absent": 1}, {"n": {"$ne": 5}}, {"n": {"$gt": 5}}, {"n": {"$lt": 5}}]
    left_out += [
        {"word": {"$gt": 6}},
        {"none": {"$lt": 6}},
        {"absent": {"$lte": 6}},
        {"tags": ["a"]},
        {"word": {"x": 1}},
    ]
    left_out += [{"tags": ["b", "a"]}, {"word": ["red"]}, {"deep": {"y": {"z": 3}}}]
    for wanted in kept + left_out:
        check_filter(wanted)
        assert matches(VALUE, wanted) is (wanted in kept), wanted


def test_a_filter_that_cannot_be_is_refused():
    for wanted, says in (
        ({"n": {"$in": [1]}}, "use one of"),
        ({"n": {"$eq": 1, "plain": 2}}, "use one of"),
        ({"deep": {"x": {"$near": 1}}}, "use one of"),
        ({"n": {"$gt": "red"}}, "compares numbers"),
    ):
        with pytest.raises(InvalidInputError, match=says):
            check_filter(wanted)
            pytest.fail(f"{wanted} is permitted")
