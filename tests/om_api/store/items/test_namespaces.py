"""Namespaces in keys and in their indexes: none is another's, and those in which nothing is kept are let go."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.store.driver.slots import slot_of
from om_api.store.items.item_records import ItemPut, body_of
from om_api.store.items.keeping_items import items_under, put_items
from om_api.store.items.namespaces import AT_ONCE, inhabited, name_of, namespace_of, tell, under

DAY_MS = 86_400_000
HOSTILE = [
    ("a}b",),
    ("{a}",),
    ("a.b",),
    ("a", "b"),
    ("a/b",),
    ("a%2Fb",),
    ("ä*?[]^",),
    ("a:b",),
    (" ",),
    ("\ud800\0",),
    ("a", "}:"),
]


def put(store, *namespaces, key="k", value=True):
    body = body_of({"x": 1}) if value else None
    store.run(put_items(store.keys, store.clock, [ItemPut(namespace, key, body) for namespace in namespaces]))


def age(store, *namespaces, ms=DAY_MS + 60_000):
    """As if something had been put there last so long ago."""
    for namespace in namespaces:
        store.client.zincrby(store.keys.namespaces(name_of(namespace[:1])), -ms, name_of(namespace))
    for root in {name_of(namespace[:1]) for namespace in namespaces}:
        store.client.zincrby(store.keys.namespace_roots, -ms, root)


def names(store, *prefix):
    return [namespace_of(one.name) for one in store.run(under(store.keys, prefix))]


@pytest.mark.parametrize("namespace", HOSTILE)
def test_a_namespace_is_read_as_it_was_written_and_chooses_no_key(store, namespace):
    name = name_of(namespace)
    keys = [store.keys.items(name), store.keys.expiring(name)]

    assert namespace_of(name) == namespace
    assert all(key.count("{") == key.count("}") == 1 for key in keys)
    assert len({slot_of(("GET", key)) for key in keys}) == 1


def test_no_two_namespaces_are_written_alike():
    assert len({name_of(namespace) for namespace in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("namespace", [(), ("",), ("a", "")])
def test_a_namespace_without_a_letter_is_refused(namespace):
    with pytest.raises(InvalidInputError, match="needs labels"):
        name_of(namespace)


def test_those_under_a_prefix_are_found_by_whole_labels(store):
    every = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "bc"), ("ab",), ("b", "a")]
    put(store, *every)

    assert names(store, "a", "b") == [("a", "b"), ("a", "b", "c")]
    assert names(store, "a") == every[:4]
    assert sorted(names(store)) == sorted(every)
    assert names(store, "c") == []


def test_more_of_them_than_are_asked_for_at_once(store):
    many = [(f"root-{n}", "x") for n in range(AT_ONCE + 1)]
    put(store, *many)

    assert sorted(names(store)) == sorted(many)
    assert len(store.run(inhabited(store.keys, store.run(under(store.keys, ()))))) == len(many)


def test_one_that_holds_nothing_is_not_inhabited_and_let_go_after_a_day(store):
    put(store, ("a", "kept"), ("a", "left"))
    put(store, ("a", "left"), value=False)

    assert store.run(inhabited(store.keys, store.run(under(store.keys, ("a",))))) == ["/a/kept"]
    assert names(store, "a") == [("a", "kept"), ("a", "left")]
    age(store, ("a", "kept"), ("a", "left"))
    store.run(inhabited(store.keys, store.run(under(store.keys, ("a",)))))
    assert names(store, "a") == [("a", "kept")]


def test_a_search_lets_go_too_and_of_a_label_with_which_none_begins_any_more(store):
    put(store, ("a", "left"), ("b",))
    put(store, ("a", "left"), value=False)
    age(store, ("a", "left"), ("b",))
    store.run(items_under(store.keys, ()))

    assert names(store) == [("b",)]
    assert store.client.zrange(store.keys.namespace_roots, 0, -1) == [b"/b"]


def test_one_that_is_put_to_meanwhile_is_kept(store):
    """Time 0: a listing sees that nothing is there. Time 1: the index is told of it again. Time 2: the listing lets go."""
    store.run(tell(store.keys, store.clock, [("a", "b")]))
    age(store, ("a", "b"))
    listed = store.run(under(store.keys, ("a",)))
    store.run(tell(store.keys, store.clock, [("a", "b")]))
    assert store.run(inhabited(store.keys, listed)) == []

    assert names(store, "a") == [("a", "b")]
