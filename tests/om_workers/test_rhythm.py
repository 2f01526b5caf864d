"""When a model is asked, how often, and about which messages: the rhythm of observing, seen from the model's side."""

import json
from collections import Counter

import pytest
from world import World

from om_api import Message
from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted


def _observed(world):
    """The ids of the messages of each request to the Observer, in the order it was asked."""
    return [[message.id for message in request.messages] for request in world.model.requests if _observes(request)]


def _observes(request):
    return request.purpose == "observe"


def _sealed(world):
    """What two messages became: a task for each chunk that was passed on, still queued."""
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])


def test_below_the_size_of_a_chunk_no_model_is_asked(world):
    world.say("hello", tokens=199)
    world.settle()

    assert world.model.requests == []
    assert len(world.context().messages) == 1


def test_at_the_size_of_a_chunk_the_model_is_asked(world):
    said = world.say("hello", tokens=200)
    world.settle()

    assert _observed(world) == [said]


def test_a_single_huge_first_message_is_observed_at_once(world):
    said = world.say("a whole book", tokens=50_000)
    world.tick()

    assert _observed(world) == [said]
    assert [observation.message_ids for observation in world.om.observations("harold")] == [tuple(said)]


def test_each_message_is_sent_to_the_observer_once_however_the_window_fills_and_empties(world):
    """Also what an activation left raw, and what came while it was made."""
    said = [name for n in range(60) for name in world.say(f"message {n}", tokens=70 + n) if world.tick() or True]
    world.om.force_observe("t-1", "harold")
    world.settle()
    asked = [name for names in _observed(world) for name in names]

    assert asked == said


def test_messages_that_are_said_again_are_not_observed_again(world):
    messages = [_message(f"m-{n}") for n in range(4)]
    world.om.add_messages(messages)
    world.settle()
    asked = len(world.model.requests)
    world.om.add_messages(messages)
    world.om.force_observe("t-1", "harold")
    world.settle()

    assert asked > 0
    assert len(world.model.requests) == asked
    assert sorted(name for names in _observed(world) for name in names) == ["m-0", "m-1", "m-2", "m-3"]


def _message(name):
    return Message(role="user", content=f"text of {name}", id=name, thread_id="t-1", resource_id="harold", tokens=100)


def test_counters_that_promise_more_than_there_is_make_nobody_ask_a_model(world):
    """Catches a worker that believes the count: nothing is unobserved, whatever the number says."""
    world.say("hello", tokens=10)
    world.settle()
    world.client.delete(f"{world.prefix}:{{harold}}:messages:t-1")
    world.client.hset(f"{world.prefix}:{{harold}}:tokens", mapping={"t-1": 5000, "*": 5000, "#t-1": 9})
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})
    world.settle()

    assert world.model.requests == []
    assert world.om.stats("harold").message_tokens == 0


def test_three_deliveries_of_every_task_ask_the_model_once_for_each_chunk(world):
    said = world.say("one", "two", tokens=200)
    _sealed(world)
    while world.dispatch.queue:
        verb, ids = world.dispatch.queue.popleft()
        for _ in range(3):
            world.perform(verb, *ids)
        world.claim()

    assert _observed(world) == [[name] for name in said]


def test_a_call_that_fails_leaves_its_messages_raw_and_nobody_observing(world):
    said = world.say("one", tokens=200)
    world.model = Scripted(
        ModelError("away", retryable=True), lambda request: "<observations>\n* 🟡 one\n</observations>"
    )
    world.tick_forgiving()

    assert not world.om.stats("harold").observing
    assert [message.id for message in world.context().messages] == said
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})
    world.settle()
    assert world.om.stats("harold").ready_chunks == 1


def test_a_chunk_that_is_observed_while_a_generation_is_made_belongs_to_the_new_one(world):
    """Time 0: the model reads a chunk. Time 5: a reflection of everything before is committed. Time 9: it is stored."""
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    said = world.say("the newest", tokens=200)
    world.om.force_observe("t-1", "harold")
    _sealed(world)
    verb, ids = next(task for task in world.dispatch.queue if task[0] == "observe_chunk")
    echo, seen = world.model.complete, []

    def meanwhile(request):
        if _observes(request) and not seen:
            world.om.force_reflect("harold")
            world.dispatch.queue.clear()
            seen.append(world.reflector().reflect("harold"))
        return echo(request)

    world.model.complete = meanwhile
    outcome = world.perform(verb, *ids)
    world.om.force_observe("t-1", "harold")
    world.settle()

    assert (seen, outcome) == ([Outcome.REFLECTED], Outcome.BUFFERED)
    assert said[0] in {name for observation in world.om.observations("harold") for name in observation.message_ids}
    assert all(count == 1 for count in Counter(world.covering()).values())


def test_the_newest_messages_stay_in_the_context_when_the_window_is_emptied(client, prefix):
    world = World(client, prefix, min_recent_messages="2")
    for n in range(12):
        (newest,) = world.say(f"message {n}", tokens=100)
        world.tick()
        assert newest in [message.id for message in world.context().messages][-2:]

    assert world.om.observations("harold")
    assert len(world.context().messages) >= 2


def test_a_forced_observation_changes_no_threshold(world):
    world.say("short")
    world.om.force_observe("t-1", "harold")
    world.settle()
    asked = len(world.model.requests)
    world.say("short again")
    world.settle()

    assert asked == 1
    assert len(world.model.requests) == asked
    assert (_limits(world)["message_threshold"], _limits(world)["buffer_tokens"]) == (1000, 200)


def _limits(world):
    return json.loads(world.client.hget(f"{world.prefix}:{{harold}}:record", "limits"))["limits"]


@pytest.mark.parametrize("threads", [1, 3])
def test_when_a_part_of_a_full_window_is_activated_the_rest_is_observed_once(client, prefix, threads):
    """The first chunks are ready when everything else comes at once: more than one activation can take."""
    world = World(client, prefix)
    said = [name for n in range(6) for name in world.say(f"early {n}", thread=f"t-{n % threads}", tokens=100)]
    world.settle()
    said += [name for n in range(30) for name in world.say(f"late {n}", thread=f"t-{n % threads}", tokens=100)]
    world.settle()
    asked = Counter(name for names in _observed(world) for name in names)

    assert world.om.observations("harold")
    assert max(asked.values()) == 1
    assert world.om.stats("harold").message_tokens < 1000
    assert sorted(said) == world.covering()
