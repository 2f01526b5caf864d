"""What one look does: in which order chunks are passed on, how many at a time, and what the record says afterwards."""

import json

import pytest
from world import World

from om_api.domain.errors import ModelError, StoreError
from om_api.domain.values import Outcome
from om_api.store.memory import chunks
from om_workers.llm.scripted import Scripted


def _queued(world):
    return [ids for verb, ids in world.dispatch.queue if verb == "observe_chunk"]


def _thread(world, chunk):
    return world.client.hget(f"{world.prefix}:{{harold}}:chunk:{chunk}", "thread").decode()


def _look(world):
    world.claim()
    return world.perform("observe", *world.dispatch.queue.popleft()[1])


def test_chunks_of_different_threads_are_observed_side_by_side_and_those_of_one_in_order(world):
    for thread in ("a", "b", "c"):
        world.say(*[f"message {n}" for n in range(4)], thread=thread)

    assert _look(world) is Outcome.SEALED
    asked = [chunk for _, *together in _queued(world) for chunk in together]
    assert sorted(_thread(world, chunk) for chunk in asked) == ["a", "b", "c"]
    assert world.om.stats("harold").chunks > 3


def test_no_more_chunks_are_handed_out_than_may_be_observed_at_once(client, prefix):
    world = World(client, prefix, observer__max_parallel_chunks="2", observer__max_tokens_per_batch="0")
    for thread in ("a", "b", "c"):
        world.say(*[f"message {n}" for n in range(4)], thread=thread)
    taken = []
    for _ in range(3):
        _look(world)
        for _, chunk in _queued(world):
            world.client.set(f"{world.prefix}:{{harold}}:lock:chunk:{chunk}", "whoever observes it", px=30_000)
            taken.append(chunk)
        world.dispatch.queue.clear()
        world.client.zadd(f"{world.prefix}:due:observe", {"harold": 1})

    assert len(set(taken)) == len(taken) == 2


def test_a_chunk_that_is_being_observed_is_not_passed_on_again(world):
    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    ((_, chunk),) = _queued(world)
    world.dispatch.queue.clear()
    world.client.set(f"{world.prefix}:{{harold}}:lock:chunk:{chunk}", "someone", px=30_000)

    world.perform("observe", "harold", "")

    assert _queued(world) == []


def test_the_observer_is_shown_what_came_before(world):
    world.say(*[f"message {n}" for n in range(6)])
    world.settle()

    asked = [request for request in world.model.requests if request.purpose == "observe"]
    assert "message 0" in asked[-1].prompt.split("<messages>")[0]
    assert asked[-1].prompt.rstrip().endswith("</task>")


def test_the_record_carries_the_limits_in_force_for_clients_without_the_yaml(client, prefix):
    world = World(client, prefix, message_threshold="2000")
    world.say(*[f"message {n}" for n in range(25)])
    world.settle()
    stranger = World(client, prefix, message_threshold="90000")

    limits = json.loads(client.hget(f"{prefix}:{{harold}}:record", "limits"))["limits"]
    assert limits["message_threshold"] == 2000
    assert stranger.om.stats("harold").message_threshold == 2000


def test_a_client_without_the_yaml_activates_as_a_worker_would(client, prefix):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(9)])
    world.settle()
    stranger = World(client, prefix, message_threshold="90000")
    stranger.say("the tenth")

    assert stranger.context().observations


def test_a_429_postpones_the_scope_and_burns_no_attempt(world):
    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    world.model.complete = _raises(ModelError("429", retryable=True, retry_after=60))
    ((_, chunk),) = _queued(world)
    now = world.client.time()[0] * 1000

    with pytest.raises(ModelError):
        world.perform("observe_chunk", "harold", chunk)

    assert world.client.hget(f"{world.prefix}:{{harold}}:chunk:{chunk}", "attempts") == b"0"
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") >= now + 55_000


def _raises(error):
    def complete(request):
        raise error

    return complete


def test_a_wake_is_written_so_that_pushes_below_it_mark_nothing(world):
    world.say("hello")
    world.settle()
    world.client.delete(f"{world.prefix}:due:observe")
    world.say("again", tokens=10)

    assert world.client.zcard(f"{world.prefix}:due:observe") == 0

    world.say("now it is due", tokens=100)
    assert world.client.zcard(f"{world.prefix}:due:observe") == 1


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_mark_for_the_other_scope_reaches_who_is_meant(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    world.say(*[f"message {n}" for n in range(9)])
    wrong = "harold|t-1" if scope == "resource" else "harold"
    client.delete(f"{prefix}:due:observe")
    client.zadd(f"{prefix}:due:observe", {wrong: 1})
    world.settle()

    assert world.om.stats("harold").ready_chunks
    assert client.zscore(f"{prefix}:due:observe", wrong) is None


def test_stats_say_that_a_chunk_is_being_observed(world):
    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    seen = []
    echo = world.model.complete
    world.model.complete = lambda request: seen.append(world.om.stats("harold").observing) or echo(request)
    world.work()

    assert seen == [True]
    assert not world.om.stats("harold").observing


def test_a_store_that_refuses_what_was_noted_burns_no_attempt(world, monkeypatch):
    """Breaks when it does: a full store would have innocent messages taken for poison."""

    def refused(*_):
        raise StoreError("full", stored=False)
        yield

    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    ((_, chunk),) = _queued(world)
    with monkeypatch.context() as patched:
        patched.setattr(chunks, "buffer", refused)
        for _ in range(5):
            with pytest.raises(StoreError):
                world.perform("observe_chunk", "harold", chunk)

    assert world.perform("observe_chunk", "harold", chunk) is Outcome.BUFFERED
    assert world.om.rejected("harold") == []


def test_a_store_that_is_away_while_a_model_is_asked_burns_no_attempt(world):
    """Counting a call, or asking whether a model's breaker is open, needs the store too."""
    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    ((_, chunk),) = _queued(world)
    echo, world.model = world.model, Scripted(*[StoreError("away", stored=False)] * 5)
    for _ in range(5):
        with pytest.raises(StoreError):
            world.perform("observe_chunk", "harold", chunk)
    world.model = echo

    assert world.perform("observe_chunk", "harold", chunk) is Outcome.BUFFERED
    assert world.om.rejected("harold") == []
