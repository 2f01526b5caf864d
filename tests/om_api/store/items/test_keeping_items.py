"""Items are kept, used and dropped by one script; what has expired is nobody's, and leaves no key."""

import time

import pytest

from om_api.store.driver.steps import Verb
from om_api.store.items.item_records import ItemPut, body_of
from om_api.store.items.keeping_items import get_items, items_under, put_items, use_items
from om_api.store.items.namespaces import name_of

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
    assert get(store, "b") is None
    assert get(store, "a", ("harold",)) is None
    assert store.run(get_items(store.keys, [])) == []


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


@pytest.mark.parametrize("key", ["", "a\0b", "\ud800", "ä" * 300, "put"])
def test_any_text_is_a_key(store, key):
    put(store, key, {"it": 1})

    assert get(store, key).value == {"it": 1}
    assert found(store, "harold") == [key]


def test_items_come_in_the_order_in_which_they_were_kept_first(store):
    for key in ("c", "a", "b"):
        put(store, key)
    store.run(put_items(store.keys, store.clock, [ItemPut(NOTES, key, body_of({})) for key in ("z", "y", "a")]))

    assert found(store, "harold") == ["c", "a", "b", "z", "y"]


def test_several_namespaces_are_searched_and_no_other(store):
    for label in ("notes", "facts"):
        put(store, label, namespace=("harold", label))
    put(store, "other", namespace=("albert", "notes"))

    assert found(store, "harold") == ["notes", "facts"]
    assert found(store, "harold", "facts") == ["facts"]
    assert found(store) == ["notes", "facts", "other"]
    assert found(store, "nobody") == []


def test_a_namespace_of_which_the_last_item_was_dropped_leaves_no_key(store):
    put(store, "a", ttl_ms=60_000)
    drop(store, "a")

    assert [store.client.exists(key) for key in keys_of(store)] == [0, 0]


def test_where_nothing_stays_the_keys_go_with_the_item_that_lives_longest(store):
    put(store, "a", ttl_ms=60_000)
    put(store, "b", ttl_ms=600_000)
    assert lifetimes(store) == pytest.approx([600_000] * 2, rel=0.1)

    put(store, "stays")
    assert lifetimes(store) == [-1, -1]
    drop(store, "stays")
    assert lifetimes(store) == pytest.approx([600_000] * 2, rel=0.1)


def test_an_item_lives_for_its_time_and_not_longer(store):
    put(store, "stays")
    put(store, "short", ttl_ms=200)
    assert get(store, "short").ttl_ms == 200
    time.sleep(0.25)

    assert get(store, "short") is None
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


def test_one_that_is_put_without_a_lifetime_stays(store):
    put(store, "a", ttl_ms=60_000)
    put(store, "a")

    assert lifetimes(store) == [-1, -2]


def test_a_use_of_what_was_dropped_meanwhile_keeps_nothing(store):
    put(store, "a", ttl_ms=60_000)
    item = get(store, "a")
    drop(store, "a")
    store.run(use_items(store.keys, [item]))

    assert [store.client.exists(key) for key in keys_of(store)] == [0, 0]


def test_the_index_knows_a_namespace_before_anything_is_kept_there(store):
    """A process may die in between: what is kept must be found."""
    told = next(put_items(store.keys, store.clock, [ItemPut(NOTES, "a", body_of({}))]))

    assert not isinstance(told, Verb)
    assert [words[1] for words in told.commands] == [store.keys.namespace_roots, store.keys.namespaces("/harold")]


def test_a_record_that_nobody_wrote_so_hides_no_other(store):
    put(store, "a")
    store.client.hset(keys_of(store)[0], "spoilt", "x")

    assert found(store, "harold") == ["a"]
    put(store, "spoilt")
    assert found(store, "harold") == ["a", "spoilt"]
