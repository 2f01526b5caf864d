"""Notes as they are searched: what is in force and what was replaced, each once, under the thread it is of."""

from scene import HAROLD, before_step, filled, observed, reflect

from om_api.client.recall.recall_notes import noted_parts
from om_api.domain.values import Scope


def noted(store, *kinds, scopes=(HAROLD,)):
    parts = store.run(noted_parts(store.keys, scopes, kinds, "auto"))
    return {part.part.thread: [(hit.kind, hit.id) for hit in part.hits] for part in parts}


def test_observations_are_those_in_force_and_those_that_were_replaced(store):
    filled(store)

    assert {thread: set(hits) for thread, hits in noted(store, "observation").items()} == {
        "t1": {("observation", "o1"), ("observation", "o2")},
        "t2": {("observation", "o3")},
    }


def test_an_observation_that_several_generations_hold_is_one(store):
    for n in (1, 2):
        observed(store, f"o{n}", n)
        reflect(store, f"o{n}", text=f"* up to {n}")

    assert sorted(noted(store, "observation")["t1"]) == [("observation", "o1"), ("observation", "o2")]
    assert noted(store, "generation") == {"": [("generation", "1"), ("generation", "2")]}


def test_one_that_is_replaced_between_two_reads_is_one_too(store):
    """Time 0: what is in force is read. Time 1: a reflection replaces it. Time 2: what was replaced is read."""
    filled(store)
    steps = noted_parts(store.keys, [HAROLD], ["observation"], "auto")
    parts = store.run(before_step(steps, 1, lambda: reflect(store, "o2", "o3")))

    assert sorted(hit.id for part in parts for hit in part.hits) == ["o1", "o2", "o3"]


def test_only_the_kinds_that_are_asked_for_are_read(store):
    filled(store)

    assert noted(store) == noted(store, "message") == {}
    assert noted(store, "generation") == {"": [("generation", "1")]}


def test_in_thread_scope_a_generation_is_of_its_thread(store):
    scope = Scope("harold", "t1")
    observed(store, "o1", 1, scope=scope)
    reflect(store, "o1", scope=scope)

    assert noted(store, "generation", scopes=[scope, Scope("harold", "t2")]) == {"t1": [("generation", "1")]}


def test_a_place_of_the_part_is_the_place_of_its_hit(store):
    filled(store)
    (part, *_) = store.run(noted_parts(store.keys, [HAROLD], ["observation"], "auto"))

    assert part.part.size == len(part.hits) == 2
    for place, hit in enumerate(part.hits):
        (found,) = part.part.postings([hit.id])
        assert (place in found, part.part.at(place)) == (True, hit.at)
        assert (hit.text, hit.message, hit.role) == (f"* noted {hit.id}", None, "")
