"""A scope's whole memory, its history included, as it was read: what changes that are made of all of it begin with."""

from scene import HAROLD, filled, reflect, trips

from om_api.domain.values import Scope
from om_api.store.memory.content import Content, content


def test_everything_that_a_scope_holds_is_told_in_two_round_trips(store):
    filled(store)
    found, taken = store.run(trips(content(store.keys, HAROLD)))

    assert taken == 2
    assert [(c.id, c.thread, c.tokens, c.messages) for c in found.chunks] == [("c4", "t1", 20, 2), ("c5", "t1", 30, 3)]
    assert [stored.observation.id for stored in found.observations] == ["o2", "o3"]
    assert (found.generation, [n for n, _ in found.generations]) == ("1", [1])
    assert {n: [stored.observation.id for stored in past] for n, past in found.histories.items()} == {1: ["o1"]}
    assert found.epoch


def test_what_a_generation_replaced_is_told_by_its_number(store):
    filled(store)
    reflect(store, "o2", "o3")
    found = store.run(content(store.keys, HAROLD))

    assert found.observations == []
    assert [[stored.observation.id for stored in found.histories[n]] for n in (1, 2)] == [["o1"], ["o2", "o3"]]


def test_what_a_worker_noted_of_its_tries_hides_no_chunk_when_it_is_garbled(store):
    filled(store)
    store.client.hset(store.keys.of("harold").chunk("c4"), mapping={"attempts": "x", "sealed_at": "y"})

    assert [chunk.id for chunk in store.run(content(store.keys, HAROLD)).chunks] == ["c4", "c5"]


def test_a_scope_without_a_memory_holds_nothing(store):
    scope = Scope("harold", "t9")

    assert store.run(content(store.keys, scope)) == Content(scope, "", "0", "0", [], [], [], {})
