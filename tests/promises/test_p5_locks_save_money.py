"""P5: locks save money, scripts keep truth. The second writer gets `superseded` and changes nothing."""

import pytest
from world import contents

from om_api.domain.values import Outcome


def _sealed(world):
    world.say(*[f"message {n}" for n in range(2)])
    world.claim()
    world.perform(*world.next_task())
    return world.next_task()


def test_a_worker_that_lost_its_lock_changes_nothing(world):
    """Time 0: A observes a chunk. Time 30: A's lock expires. Time 31: B observes it too and stores it. Time 40: A stores. Catches
    a `buffer` without its check of the chunk's state: A would overwrite what B said."""
    task = _sealed(world)
    inner = {}

    def overtaken():
        world.client.delete(*world.client.scan_iter(f"{world.prefix}:*lock*"))
        inner["outcome"] = world.perform(*task)
        inner["after"] = contents(world.client, f"{world.prefix}:{{*")

    world.while_it_thinks(overtaken)
    assert world.perform(*task) is Outcome.SUPERSEDED
    assert (inner["outcome"], contents(world.client, f"{world.prefix}:{{*")) == (Outcome.BUFFERED, inner["after"])


def test_a_task_delivered_twice_is_done_once(world):
    task = _sealed(world)
    lock = f"{world.prefix}:{{harold}}:lock:chunk:{task[2]}"
    world.client.set(lock, "another worker", px=30_000)
    assert world.perform(*task) is Outcome.BUSY
    world.client.delete(lock)
    outcomes = [world.perform(*task), world.perform(*task)]
    assert (outcomes, len(world.model.requests)) == ([Outcome.BUFFERED, Outcome.SUPERSEDED], 1)


def test_a_reflection_that_was_overtaken_changes_nothing_and_new_facts_stay(world):
    """Time 0: A reads generation 0 and thinks. Time 5: B commits generation 1. Time 9: A commits. Catches a `reflect` without its
    check of the generation."""
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    outcomes = []

    def overtaken():
        world.client.delete(*world.client.scan_iter(f"{world.prefix}:*lock*"))
        outcomes.append(world.reflector().reflect("harold"))

    world.while_it_thinks(overtaken, "reflect")
    world.om.force_reflect("harold")
    outcomes.append(world.reflector().reflect("harold"))
    assert outcomes == [Outcome.REFLECTED, Outcome.SUPERSEDED]
    assert [generation.n for generation in world.om.generations("harold")] == [1]


@pytest.mark.parametrize("verb", ["observe", "observe_chunk", "reflect"])
def test_nothing_on_a_cleared_memory_reappears(world, verb):
    """Time 0: a worker thinks about a chunk. Time 5: its owner clears the memory. Time 9: the worker commits."""
    world.say(*[f"message {n}" for n in range(12)])
    if verb == "reflect":
        world.settle()
        world.om.force_reflect("harold")
    outcomes = []
    world.while_it_thinks(lambda: outcomes.append(world.om.clear("harold").outcome))
    world.tick()
    assert outcomes == ["cleared"]
    left = [key for key in world.client.scan_iter(f"{world.prefix}:{{harold}}*") if b":lock:" not in key]
    assert left == []
