"""Dead work that no tick would look at for long: found by the next sweep, or when a dead worker's lock ends."""

from __future__ import annotations

import pytest
from test_dead_work import HAROLD, a_lease_later, begun, held_by_the_dead  # noqa: F401
from world import World

from om_api.store import commits, due
from om_api.values import Outcome

HOUR = 3_600_000


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def at_idle_deadline(world):
    now = world.shop.run(due.server_ms())
    world.client.zadd(world.shop.keys.due_observe, {"harold": now + HOUR})
    world.client.zadd(world.shop.keys.resources, {"harold": 0})


def test_a_sealed_chunk_of_a_scope_that_waits_for_its_idle_deadline_is_found_by_the_sweep(world):
    """Breaks when being in the index, however far ahead, counts as being looked after: sweep.py `not s.in_observe`."""
    ids, _ = begun(world)
    at_idle_deadline(world)

    world.sweep()
    assert Outcome.BUFFERED in world.tick()
    assert world.covering() == sorted(ids)


def test_a_request_of_a_dead_client_does_not_wait_for_an_idle_deadline(world):
    world.say("only this")
    world.settle()
    world.shop.run(commits.force(world.shop.keys, HAROLD, "force"))
    at_idle_deadline(world)

    world.sweep()
    world.settle()
    assert world.context().messages == []


def test_a_scope_that_waits_for_its_idle_deadline_with_nothing_to_do_is_left_alone(world):
    world.say("only this")
    world.settle()
    at_idle_deadline(world)

    assert world.sweep().marked == 0


def test_what_was_looked_at_just_before_it_was_forgotten_is_found_by_the_next_sweep(world):
    """Breaks when a look within the last 50 s hides a scope from the sweep: the next one comes 60 s later, 110 s in all."""
    ids, _ = begun(world)
    world.client.zrem(world.shop.keys.due_observe, "harold")

    assert world.sweep().marked == 1
    assert Outcome.BUFFERED in world.tick()
    assert world.covering() == sorted(ids)


def test_a_chunk_whose_lock_is_a_dead_workers_is_looked_at_when_the_lock_ends(world):
    """A look a moment before the lock ends must not cost another lease: up to 70 s from the death, with ticks of 10 s."""
    _, (_, (_, chunk)) = begun(world)
    held_by_the_dead(world, f"chunk:{chunk}")
    lock = world.shop.keys.of("harold").lock(f"chunk:{chunk}")
    world.client.pexpire(lock, 500)
    now = world.shop.run(due.server_ms())
    world.client.zadd(world.shop.keys.due_observe, {"harold": now})
    world.tick()

    left = world.client.zscore(world.shop.keys.due_observe, "harold") - now
    assert left <= 5_000
