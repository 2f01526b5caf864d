"""repair_index: what is broken of recall's index is removed, and the sweep looks for it; nothing else is changed."""

from scene import HAROLD, breaches, filled, key_of, record

from om_api.recall.analysis import VERSION
from om_api.store.audit.index_repair import repair_index
from om_api.store.audit.invariants import Breach
from om_api.store.index.reindex import reindex


def held(store):
    base = f"{store.keys.of('harold').base}:segment:"
    return {key.decode().removeprefix(base): store.client.get(key) for key in store.client.scan_iter(f"{base}*")}


def indexing(store, scope=HAROLD, threads=("t1", "t2")):
    return store.run(reindex(store.keys, scope, record(store, scope).epoch, threads, "auto", 100))


def spoiled(store):
    """A segment that was deleted, one that was cut off, one whose middle was changed, and one of another type."""
    keys = [key_of(store, "segment", name) for name in ("o1", "o2", "o3", "c4")]
    store.client.delete(keys[0], keys[3])
    store.client.set(keys[1], store.client.get(keys[1])[:40], keepttl=True)
    store.client.setrange(keys[2], 60, b"????")
    store.client.rpush(keys[3], "no text")


def test_whatever_is_broken_of_the_index_is_made_anew(store):
    filled(store)
    indexing(store)
    made = held(store)
    spoiled(store)
    repaired = store.run(repair_index(store.keys, breaches(store)))

    assert repaired == 4
    assert indexing(store) == 4
    assert held(store) == made
    assert breaches(store) == []


def test_what_is_no_index_is_left_alone(store):
    filled(store)
    indexing(store)
    before = held(store)
    others = [
        key_of(store, "source", "o1"),
        key_of(store, "record", HAROLD),
        "harold",
        f"{store.keys.prefix}:segment:x",
    ]

    assert store.run(repair_index(store.keys, [Breach(where, "is missing") for where in others])) == 0
    assert held(store) == before
    assert store.client.exists(others[0])
    assert store.client.hget(others[1], "indexed") == str(VERSION).encode()
