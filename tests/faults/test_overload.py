"""More work than workers: a queue no longer than the fleet is wide, each agent asked for once, and both end together."""

import math
from collections import Counter

import pytest
from world import World

from om_api.store.memory import due
from om_api.store.memory.keys import queued
from om_workers.work.dispatcher import Dispatcher

WIDE = 8  # tasks that the fleet runs at a time
AGENTS = 24


@pytest.fixture
def world(server_client, prefix):
    world = World(server_client, prefix)
    world.services.presence.serve(["observe", "reflect"], WIDE)
    return world


def _come_due(world):
    for number in range(AGENTS):
        world.say(f"invoice {number} is due", resource=f"agent-{number:03}", tokens=900)


def _leases_end(world):
    """What half a minute does to those whose task still waits in the queue of the broker, where nobody renews it."""
    index, now = world.services.keys.due_observe, world.services.run(due.server_ms())
    for key in (index, queued(index)):
        ending = {
            name: now - 1 for name, score in world.client.zrange(key, 0, -1, withscores=True) if score <= now + 60_000
        }
        if ending:
            world.client.zadd(key, ending, xx=True)


def _work(world, dispatcher):
    """A task as a worker does it: begin it, look, hand out the next, observe."""
    _, (scope, lease) = world.dispatch.queue.popleft()
    if not dispatcher.begin("observe", scope, lease):
        return 1
    mine = world.scope_worker().observe(scope, until=math.inf).chunks
    dispatcher.refill("observe")
    if mine:
        world.observer().observe_chunks(scope, *mine)
    return 0


@pytest.mark.parametrize("slow", [False, True], ids=["model", "slow model"])
def test_a_backlog_is_worked_off_once_with_a_queue_no_longer_than_the_fleet_is_wide(world, slow):
    """Catches what was seen: 12,000 agents were observed with 12,000 calls, and 56,801 tasks waited then, still growing. With a
    slow model every task waits for longer than its lease, and a tick comes while it does."""
    _come_due(world)
    dispatcher, stale = Dispatcher(world.services), 0
    dispatcher.fill("observe", 9)
    for turn in range(3 * AGENTS):
        if not world.dispatch.queue:
            break
        if slow and turn % 3 == 0:
            _leases_end(world)
            world.dispatch.elsewhere = len(world.dispatch.queue)
            dispatcher.fill("observe", 9)
        waiting = [ids[0] for verb, ids in world.dispatch.queue if verb == "observe"]
        assert len(waiting) <= WIDE
        assert Counter(waiting).most_common(1)[0][1] == 1
        stale += _work(world, dispatcher)
    asked = Counter(request.messages[0].content for request in world.model.requests)
    now = world.services.run(due.server_ms())
    assert asked == dict.fromkeys((f"invoice {number} is due" for number in range(AGENTS)), 1)
    assert (stale, world.client.zcount(world.services.keys.due_observe, "-inf", now)) == (0, 0)
    assert world.client.zcard(queued(world.services.keys.due_observe)) == 0
