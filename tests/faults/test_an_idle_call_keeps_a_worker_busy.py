"""A call, its result and one more message lay idle: they cannot be cut and leave two raw; workers looked at them without end."""

import time

import pytest
from world import World

from om_api import Message
from om_api.domain.values import Outcome

_HOUR_MS = 3_600_000


def _message(name, role, content):
    at = time.time() - 7_200
    return Message(role=role, content=content, id=name, thread_id="t-1", resource_id="harold", timestamp=at)


@pytest.fixture
def world(client, prefix):
    world = World(client, prefix, min_recent_messages="2")
    call = [{"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {}}]
    result = [{"type": "tool-result", "tool_call_id": "c-1", "name": "look", "result": "rain"}]
    said = [
        ("m-1", "user", "How is it?"),
        ("m-2", "assistant", call),
        ("m-3", "tool", result),
        ("m-4", "assistant", "Wet."),
    ]
    world.om.add_messages([_message(*each) for each in said])
    return world


def test_what_cannot_be_cut_is_looked_at_once_and_again_only_later(world):
    world.settle()

    assert world.tick() == []
    (due,) = (at for _, at in world.client.zrange(f"{world.prefix}:due:observe", 0, -1, withscores=True))
    assert due > time.time() * 1000 + _HOUR_MS - 60_000
    world.sweep()
    assert world.tick() == []
    assert world.covering() == ["m-1", "m-2", "m-3", "m-4"]


def test_it_is_observed_once_a_further_message_lies_idle(world):
    world.settle()
    world.om.add_message(_message("m-5", "user", "Oh."))
    world.om.add_message(_message("m-6", "user", "Well."))
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})

    assert Outcome.SEALED in world.tick()
    assert world.covering() == ["m-1", "m-2", "m-3", "m-4", "m-5", "m-6"]
