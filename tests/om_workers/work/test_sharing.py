"""Small chunks of several threads share a call; what one of them cannot have costs the others nothing more than that call."""

from __future__ import annotations

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.domain.values import Chunk, Observation, Outcome, Scope
from om_api.store.memory import chunks, scope_state
from om_workers.llm.base import Reply, Usage
from om_workers.llm.scripted import Scripted
from om_workers.work.sharing import batches


def chunk(tokens, *, attempts=0, thread="t"):
    return Chunk(id=f"{thread}-{tokens}", thread=thread, seq=1, tokens=tokens, messages=1, attempts=attempts)


@pytest.mark.parametrize(
    ("tokens", "most", "expected"),
    [
        ([10, 20, 30], 100, [[10, 20, 30]]),
        ([50, 60, 30], 100, [[50], [60, 30]]),
        ([500, 10, 10], 100, [[500], [10, 10]]),
        ([10, 10], 0, [[10], [10]]),
        ([0, 0], 0, [[0], [0]]),
        ([], 100, []),
    ],
)
def test_chunks_are_packed_in_their_order_below_the_limit(tokens, most, expected):
    assert [[each.tokens for each in group] for group in batches(map(chunk, tokens), most)] == expected


def test_a_chunk_that_was_tried_before_is_alone():
    tried = chunk(10, attempts=1)

    assert [len(group) for group in batches([chunk(1), tried, chunk(2), chunk(3)], 100)] == [1, 1, 2]


@pytest.fixture
def forced(world):
    """Two threads with a sealed chunk each, small enough to share a call."""
    for thread in ("t-1", "t-2"):
        world.say("first", "second", thread=thread)
    world.om.force_observe(None, "harold")
    return world


def sealed(world):
    """Do all work but the models'; the tasks that would ask one."""
    world.claim()
    asking = []
    while world.dispatch.queue:
        verb, ids = world.dispatch.queue.popleft()
        if verb == "observe_chunk":
            asking.append(ids)
        else:
            world.perform(verb, *ids)
    return asking


def attempts(world):
    return [
        chunk.attempts for chunk in world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks
    ]


def test_two_small_threads_are_observed_in_one_call(forced):
    (task,) = sealed(forced)

    assert len(task) == 3
    assert forced.perform("observe_chunk", *task) is Outcome.BUFFERED
    assert len(forced.model.requests) == 1
    found = {each.thread_id: each for each in forced.om.observations("harold")}
    assert {name: len(each.message_ids) for name, each in found.items()} == {"t-1": 2, "t-2": 2}
    assert all(name in found[thread].text for thread in found for name in found[thread].message_ids)
    assert forced.om.verify() == []


def test_a_limit_of_zero_gives_each_chunk_its_own_call(client, prefix):
    world = World(client, prefix, observer__max_tokens_per_batch="0")
    for thread in ("t-1", "t-2"):
        world.say("first", thread=thread)
    world.om.force_observe(None, "harold")

    assert [len(ids) for ids in sealed(world)] == [2]
    world.settle()
    assert [len(request.messages) for request in world.model.requests] == [1, 1]


def test_a_thread_without_an_answer_is_tried_alone_and_the_other_is_kept(forced):
    (task,) = sealed(forced)
    forced.model = Scripted(lambda request: f'<thread id="t-1">\n* 🟡 {request.threads["t-1"][0].id}\n</thread>')

    assert forced.perform("observe_chunk", *task) is Outcome.BUFFERED
    assert [each.thread_id for each in forced.om.observations("harold")] == ["t-1"]
    assert {len(ids) for ids in sealed(forced)} == {2}


@pytest.mark.parametrize(
    ("failure", "burned"), [(ModelError("429", retry_after=60), 0), (ModelError("blocked", retryable=False), 1)]
)
def test_a_shared_call_that_fails_burns_an_attempt_only_where_a_chunk_may_be_to_blame(forced, failure, burned):
    (task,) = sealed(forced)
    forced.model = Scripted(failure)

    with pytest.raises(ModelError):
        forced.perform("observe_chunk", *task)

    assert attempts(forced) == [burned, burned]


def test_a_chunk_that_somebody_else_observes_is_left_to_them(forced):
    (task,) = sealed(forced)
    name, first, second = task
    with forced.services.heartbeat.lock(forced.services.keys.of("harold").lock(f"chunk:{first}")) as mine:
        assert mine
        assert forced.perform("observe_chunk", name, first, second) is Outcome.BUFFERED

    (request,) = forced.model.requests
    assert request.threads == {}


def test_the_cost_of_a_shared_call_is_shared_by_the_tokens_of_the_messages(client, prefix):
    world = World(client, prefix)
    world.say("first", thread="t-1", tokens=100)
    world.say("first", thread="t-2", tokens=300)
    world.om.force_observe(None, "harold")
    (task,) = sealed(world)
    text = "".join(f'<thread id="{name}">\n* 🟡 noted\n</thread>\n' for name in ("t-1", "t-2"))
    world.model = Scripted(Reply(text=text, model="a", usage=Usage(), cost=0.4))

    assert world.perform("observe_chunk", *task) is Outcome.BUFFERED
    costs = {each.thread_id: each.cost for each in world.om.observations("harold")}
    assert costs == pytest.approx({"t-1": 0.1, "t-2": 0.3})


def test_chunks_that_were_tried_since_they_were_passed_on_are_tried_alone(forced):
    """A task may come late or twice: by then each of its chunks may have failed once, and must not fail for the other."""
    (task,) = sealed(forced)
    forced.model = Scripted(ModelError("blocked", retryable=False))
    with pytest.raises(ModelError):
        forced.perform("observe_chunk", *task)
    forced.model = Scripted()

    assert forced.perform("observe_chunk", *task) is Outcome.SUPERSEDED
    assert attempts(forced) == [1, 1]
    assert {len(ids) for ids in sealed(forced)} == {2}


def lease(world):
    """For how many ms more the scope is not due."""
    seconds, micros = world.client.time()
    score = world.client.zscore(f"{world.prefix}:due:observe", "harold")
    return float("inf") if score is None else score - (seconds * 1000 + micros // 1000)


@pytest.mark.parametrize("n", [1, 2])
def test_a_thread_without_an_answer_is_due_at_once_though_nobody_stored_the_others_and_only_then(forced, n):
    """Catches a scope that is left on its lease, and a lease that is ended though everything is stored.

    Time 0: both are asked for. Time 1: another worker stores the first n. Time 2: our answer comes, for the same n.
    Nothing of ours was stored that would have the scope looked at.
    """
    (task,) = sealed(forced)
    name, first, second = task
    found = [("t-1", first), ("t-2", second)][:n]

    def answer(_request):
        for thread, one in found:
            theirs = Observation(id=one, thread_id=thread, text="* 🟡 noted", tokens=4, message_ids=("x",))
            assert forced.services.run(chunks.buffer(forced.services.keys, "harold", theirs, "w-2")) is Outcome.BUFFERED
        return "".join(f'<thread id="{thread}">\n* 🟡 noted\n</thread>\n' for thread, _ in found)

    forced.model = Scripted(answer)

    assert forced.perform("observe_chunk", name, first, second) is Outcome.SUPERSEDED
    assert (lease(forced) <= 0) is (n == 1)


def test_a_scope_whose_threads_were_all_answered_is_not_due_by_that(forced):
    (task,) = sealed(forced)

    assert forced.perform("observe_chunk", *task) is Outcome.BUFFERED
    assert lease(forced) > 0
