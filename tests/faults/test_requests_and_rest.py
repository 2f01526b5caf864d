"""Requests by force, and a memory in which nothing is due."""

import threading
import time

import pytest
from world import World, wait_until

from om_api import Message
from om_api.domain.values import Outcome


def _requests(world):
    records = world.client.scan_iter(f"{world.prefix}:{{harold}}:record*")
    return [name for key in records for name in world.client.hkeys(key) if name.startswith(b"force")]


def hurry(world):
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})


def _raw(world):
    return world.client.zcard(f"{world.prefix}:{{harold}}:messages:t-1")


def test_a_request_made_while_an_activation_is_due_is_answered_when_its_messages_are_observed(world):
    """Breaks when a look that first activates counts every forced request as handled."""
    world.say(*(f"m{n}" for n in range(8)))
    world.settle()
    world.say("m8", "m9", "m10", tokens=90)  # the window is full, four chunks are ready
    world.observe_now()
    assert (_requests(world), _raw(world)) == ([], 0)


def test_observe_answers_superseded_if_the_memory_is_cleared_meanwhile(client, prefix_for):
    """Time 0: its chunk is asked about. Time 5: the owner clears the memory, or the thread. Time 9: the request is gone."""
    for n, clears in enumerate((("harold",), ("harold", "t-1"), None)):
        world = World(client, prefix_for(n))
        world.say("my secret", thread="t-0")
        world.observe_now("t-0")
        world.say("another secret")
        if clears:
            world.while_it_thinks(lambda world=world, clears=clears: world.om.clear(*clears))

        def work(world=world):
            wait_until(lambda: _requests(world), "the request")
            world.settle()
            hurry(world)  # its lease would run out
            world.settle()

        worker = threading.Thread(target=work)
        worker.start()
        assert world.om.force_observe("t-1", "harold", wait=30) is (
            Outcome.SUPERSEDED if clears else Outcome.ACTIVATED
        ), clears
        worker.join()


def test_a_forced_request_takes_messages_that_weigh_nothing_and_leaves_an_unanswered_call_raw(world):
    world.say("a", "b")
    world.say("c", "d", "e", tokens=0)
    world.observe_now()
    assert (_requests(world), _raw(world)) == ([], 0)
    call = {"type": "tool-call", "tool_call_id": "c-1", "name": "search", "args": {}}
    world.om.add_message(Message(role="assistant", content=[call], thread_id="t-1", resource_id="harold"))
    world.observe_now()
    assert (_requests(world), _raw(world)) == ([], 1)


_HOUR_MS = 3_600_000


def _message(name, role, content):
    at = time.time() - 7_200
    return Message(role=role, content=content, id=name, thread_id="t-1", resource_id="harold", timestamp=at)


@pytest.fixture
def world(client, prefix):
    """A call, its result and one more message lie idle: they cannot be cut and leave two raw."""
    world = World(client, prefix, min_recent_messages="2")
    call = [{"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {}}]
    result = [{"type": "tool-result", "tool_call_id": "c-1", "name": "look", "result": "rain"}]
    roles = {"m-1": ("user", "How is it?"), "m-2": ("assistant", call), "m-3": ("tool", result)}
    world.om.add_messages([_message(name, *said) for name, said in {**roles, "m-4": ("assistant", "Wet.")}.items()])
    world.settle()
    return world


def test_what_cannot_be_cut_is_looked_at_once_and_again_only_later(world):
    assert world.tick() == []
    (due,) = (at for _, at in world.client.zrange(f"{world.prefix}:due:observe", 0, -1, withscores=True))
    assert due > time.time() * 1000 + _HOUR_MS - 60_000
    world.sweep()
    assert world.tick() == []
    assert world.covering() == ["m-1", "m-2", "m-3", "m-4"]


def test_what_could_not_be_cut_is_observed_once_a_further_message_lies_idle(world):
    world.om.add_message(_message("m-5", "user", "Oh."))
    world.om.add_message(_message("m-6", "user", "Well."))
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})
    assert Outcome.SEALED in world.tick()
    assert world.covering() == ["m-1", "m-2", "m-3", "m-4", "m-5", "m-6"]


def test_a_full_window_whose_chunks_wait_for_recent_messages_is_at_rest(client, prefix):
    """Breaks when wake says due: `om verify` reports a breach, and every sweep marks the scope again."""
    world = World(client, prefix, min_recent_messages="20")
    world.say(*(f"m{n}" for n in range(10)))
    world.settle()
    world.say("small", tokens=50)
    world.settle()
    world.sweep()
    world.settle()
    assert world.om.verify() == []
    client.zadd(world.services.keys.resources, {"harold": 1})
    assert world.sweep().marked == 0
