"""A message is tokenised once: by who writes it, or by the first who meets it, whatever becomes of it afterwards."""

import json
from collections import Counter

import pytest

from om_api import Message
from om_api.domain import tokens
from om_api.domain.values import Scope
from om_api.store.memory import scope_state

TEXT = "a text of a plain writer, number {}, that nobody has counted so far and that is long enough to tell"


@pytest.fixture
def tokenised(world):
    """How often each text was really tokenised, by the client or the workers of a world."""
    seen = Counter()

    def count(text):
        seen[text] += 1
        return 100

    counter = tokens.Remembering(count)
    world.services = world.services._replace(count=counter)
    world.om._core.writing.count = counter
    return seen


def _plainly(world, numbers):
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    for n in numbers:
        world.client.zadd(key, {json.dumps({"id": f"p-{n}", "role": "user", "content": TEXT.format(n)}): 1.79e12 + n})
    world.client.zadd(f"{world.prefix}:adopt", {key: 0})
    world.sweep()


def test_what_a_plain_writer_left_is_tokenised_once_however_often_it_is_met(world, tokenised):
    for n in range(12):
        _plainly(world, [n])
        world.tick()
        world.context()
    world.settle()

    assert world.om.observations("harold")
    assert [tokenised[TEXT.format(n)] for n in range(12)] == [1] * 12


def test_what_the_library_accepted_is_tokenised_by_the_writer_alone(world, tokenised):
    texts = [TEXT.format(n) for n in range(12)]
    for text in texts:
        world.om.add_message(Message(role="user", content=text, thread_id="t-1", resource_id="harold"))
    assert [tokenised[text] for text in texts] == [1] * 12
    tokenised.clear()
    world.settle()
    world.context()

    assert world.om.observations("harold")
    assert [tokenised[text] for text in texts] == [0] * 12


def test_the_count_is_stored_with_the_message_and_the_sum_with_its_chunk(world, tokenised):
    world.om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
    (member,) = world.client.zrange(f"{world.prefix}:{{harold}}:messages:t-1", 0, -1)
    world.om.force_observe("t-1", "harold")
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    (chunk,) = world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks

    assert json.loads(member)["tokens"] == 104
    assert chunk.tokens == 104


def test_what_the_writer_said_is_not_counted_at_all(world, tokenised):
    said = world.say(*[TEXT.format(n) for n in range(12)], tokens=100)
    world.settle()
    world.context()

    assert world.covering() == sorted(said)
    assert [tokenised[TEXT.format(n)] for n in range(12)] == [0] * 12
