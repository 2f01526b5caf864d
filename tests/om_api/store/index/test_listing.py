"""listing: all that is kept of a resource's messages, as it stood at one instant."""

import pytest
from scene import HAROLD, activate, at_step, buffer, filled, member, observed, push, record, reflect, seal, trips

from om_api.domain.values import Scope
from om_api.store.index.listing import MemoryPlace, listing


def listed(store, threads=frozenset(), word=None):
    return store.run(trips(listing(store.keys, "harold", frozenset(threads), word)))


def test_every_tier_is_listed_with_the_memory_it_is_of(store):
    filled(store)
    found, _ = listed(store)
    epoch = record(store).epoch
    own = MemoryPlace("t1", HAROLD, epoch, "1")

    assert found.threads == {"t1", "t2"}
    assert found.chunks == dict.fromkeys(["c4", "c5"], own._replace(thread=""))
    assert found.sources == {"o1": own, "o2": own, "o3": own._replace(thread="t2")}
    assert {name: [one for one, _ in pairs] for name, pairs in found.raw.items()} == {
        "t1": [member(10), member(11)],
        "t2": [member(33, "t2")],
    }
    assert abs(found.now - store.client.time()[0] * 1000) < 60_000


def test_a_look_that_names_every_thread_takes_one_round_trip(store):
    found, took = listed(store)
    assert (found.scope, found.threads, took) == (None, frozenset(), 1)
    assert (dict(found.chunks), dict(found.sources), dict(found.raw)) == ({}, {}, {})
    filled(store)
    found, took = listed(store)
    assert took == 2
    assert listed(store, found.threads, found.scope)[1] == 1


@pytest.mark.parametrize("became", ["raw", "sealed", "activated"])
def test_what_was_acknowledged_of_a_thread_nobody_named_is_listed_wherever_it_is(store, became):
    """Breaks without the second look: its thread is learned and never read."""
    filled(store)
    known, _ = listed(store)
    push(store, 50, thread="t9")
    if became != "raw":
        seal(store, "c9", 50, thread="t9")
    if became == "activated":
        buffer(store, "c9", thread="t9")
        activate(store, "c9", by="a9")
    found, took = listed(store, known.threads, known.scope)

    assert ("t9" in found.raw, took) == (True, 2)
    assert (became == "raw") == (member(50, "t9") in [one for one, _ in found.raw["t9"]])
    assert ("c9" in found.chunks, "c9" in found.sources) == (became == "sealed", became == "activated")


def test_what_moves_between_two_looks_is_listed_once(store):
    """Time 0: a first look learns the threads. Time 1: chunk 4 is activated. Time 2: the second look has it as a source alone."""
    filled(store)
    found = store.run(at_step(listing(store.keys, "harold"), 1, lambda: activate(store, "c4", by="a4")))
    assert ("c4" in found.sources, "c4" in found.chunks) == (True, False)


def test_in_thread_scope_each_thread_has_the_epoch_and_generation_of_its_own_memory(store):
    for n, thread in enumerate(("t1", "t2"), 1):
        observed(store, f"o{n}", 10 * n, thread=thread, scope=Scope("harold", thread))
        seal(store, f"c{n}", 10 * n + 1, thread=thread, scope=Scope("harold", thread))
    reflect(store, "o1", scope=Scope("harold", "t1"))
    found, _ = listed(store)
    first, second = (record(store, Scope("harold", thread)).epoch for thread in ("t1", "t2"))

    assert found.scope == "thread"
    assert first != second
    assert found.sources == {
        "o1": MemoryPlace("t1", Scope("harold", "t1"), first, "1"),
        "o2": MemoryPlace("t2", Scope("harold", "t2"), second, "0"),
    }
    assert found.chunks["c2"] == MemoryPlace("t2", Scope("harold", "t2"), second, "0")
