"""What a worker reads of sealed chunks before it asks a model, and what it stores of the answer."""

import pytest

from om_api.domain.errors import ModelError
from om_api.domain.values import Chunk, Observation, Outcome, Scope
from om_api.store.memory import chunks, scope_state
from om_workers.llm.base import Reply
from om_workers.llm.scripted import Scripted
from om_workers.prompts.parse import Observed
from om_workers.work import sealed
from om_workers.work.sealed import batches

HAROLD = Scope("harold")


def _sealed(world, *texts, thread="t-1"):
    world.say(*texts, thread=thread, tokens=50)
    world.om.force_observe(thread, "harold")
    world.scope_worker().observe("harold")
    chunks = world.services.run(scope_state.look(world.services.keys, HAROLD)).chunks
    (sealed_now,) = [chunk.id for chunk in chunks if chunk.thread == thread and not chunk.ready]
    return sealed_now


def test_what_is_gone_or_observed_is_left_out_and_shown_to_who_comes_next(world):
    """Catches a chunk that is observed twice, and one that is observed without what the one before it noted."""
    first = _sealed(world, "[[w1-1]] one")
    world.perform("observe_chunk", "harold", first)
    second = _sealed(world, "two")
    (found,) = sealed.read(world.services, HAROLD, ["nobody", first, second])
    assert found.chunk.id == second
    assert ["[[w1-1]] one" in text for text in found.texts] == [True]


def chunk(tokens, *, attempts=0, thread="t"):
    return Chunk(id=f"{thread}-{tokens}", thread=thread, seq=1, tokens=tokens, messages=1, attempts=attempts)


def test_chunks_are_packed_in_their_order_below_the_limit():
    rows = [([10, 20, 30], 100, [[10, 20, 30]]), ([50, 60, 30], 100, [[50], [60, 30]]),
            ([500, 10, 10], 100, [[500], [10, 10]]), ([10, 10], 0, [[10], [10]]), ([], 100, [])]  # fmt: skip
    for tokens, most, expected in rows:
        assert [[each.tokens for each in group] for group in batches(map(chunk, tokens), most)] == expected, tokens
    tried = chunk(10, attempts=1)  # is alone
    assert [len(group) for group in batches([chunk(1), tried, chunk(2), chunk(3)], 100)] == [1, 1, 2]


@pytest.fixture
def forced(world):
    for thread in ("t-1", "t-2"):
        world.say("first", "second", thread=thread)
    world.om.force_observe(None, "harold")
    return world


def all_sealed(world):
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
    (task,) = all_sealed(forced)
    assert len(task) == 3
    assert forced.perform("observe_chunk", *task) is Outcome.BUFFERED
    assert len(forced.model.requests) == 1
    found = {each.thread_id: each for each in forced.om.observations("harold")}
    assert {name: len(each.message_ids) for name, each in found.items()} == {"t-1": 2, "t-2": 2}
    assert all(name in found[thread].text for thread in found for name in found[thread].message_ids)
    assert forced.om.verify() == []


def test_a_thread_without_an_answer_is_tried_alone_and_the_other_is_kept(forced):
    (task,) = all_sealed(forced)
    forced.model = Scripted(lambda request: f'<thread id="t-1">\n* 🟡 {request.threads["t-1"][0].text()}\n</thread>')
    assert forced.perform("observe_chunk", *task) is Outcome.BUFFERED
    assert [each.thread_id for each in forced.om.observations("harold")] == ["t-1"]
    assert {len(ids) for ids in all_sealed(forced)} == {2}


@pytest.mark.parametrize(
    ("failure", "burned"), [(ModelError("429", retry_after=60), 0), (ModelError("blocked", retryable=False), 1)]
)
def test_a_shared_call_that_fails_burns_an_attempt_only_where_a_chunk_may_be_to_blame(forced, failure, burned):
    (task,) = all_sealed(forced)
    forced.model = Scripted(failure)
    with pytest.raises(ModelError):
        forced.perform("observe_chunk", *task)
    assert attempts(forced) == [burned, burned]


def test_a_chunk_that_somebody_else_observes_is_left_to_them(forced):
    (task,) = all_sealed(forced)
    name, first, second = task
    with forced.services.heartbeat.lock(forced.services.keys.of("harold").lock(f"chunk:{first}")) as mine:
        assert mine
        assert forced.perform("observe_chunk", name, first, second) is Outcome.BUFFERED
    (request,) = forced.model.requests
    assert request.threads == {}


def test_chunks_that_were_tried_since_they_were_passed_on_are_tried_alone(forced):
    """A task may come late or twice: by then each of its chunks may have failed once, and must not fail for the other."""
    (task,) = all_sealed(forced)
    forced.model = Scripted(ModelError("blocked", retryable=False))
    with pytest.raises(ModelError):
        forced.perform("observe_chunk", *task)
    forced.model = Scripted()
    assert forced.perform("observe_chunk", *task) is Outcome.SUPERSEDED
    assert attempts(forced) == [1, 1]
    assert {len(ids) for ids in all_sealed(forced)} == {2}


def lease(world):
    seconds, micros = world.client.time()
    score = world.client.zscore(f"{world.prefix}:due:observe", "harold")
    return float("inf") if score is None else score - (seconds * 1000 + micros // 1000)


@pytest.mark.parametrize("n", [1, 2])
def test_a_thread_without_an_answer_is_due_at_once_though_nobody_stored_the_others_and_only_then(forced, n):
    """Catches a scope that is left on its lease, and a lease that is ended though everything is stored.

    Time 0: both are asked for. Time 1: another worker stores the first n. Time 2: our answer comes, for the same n.
    Nothing of ours was stored that would have the scope looked at.
    """
    (task,) = all_sealed(forced)
    name, first, second = task
    found = [("t-1", first), ("t-2", second)][:n]

    def answer(_request):
        for thread, one in found:
            theirs = Observation(id=one, thread_id=thread, text="* 🟡 noted", tokens=4, message_ids=("x",))
            assert forced.services.run(chunks.buffer(forced.services.keys, "harold", theirs, "w-2")) is Outcome.BUFFERED
        return "".join(f'<thread id="{thread}">\n* 🟡 first\n</thread>\n' for thread, _ in found)

    forced.model = Scripted(answer)
    assert forced.perform("observe_chunk", name, first, second) is Outcome.SUPERSEDED
    assert (lease(forced) <= 0) is (n == 1)


def test_an_observation_covers_the_messages_of_its_chunk_from_the_first_to_the_last(world):
    (found,) = sealed.read(world.services, HAROLD, [_sealed(world, "one", "two", "three")])
    observed = Observed(text="* noted", priority=3, current_task="rest", suggested_response="Go on")
    made = sealed.observation_of(found, observed, Reply(text="", model="m", cost=0.5), 7)
    ids = tuple(message.id for message in found.messages)
    assert (made.id, made.thread_id) == (found.chunk.id, "t-1")
    assert (made.message_ids, made.source_range) == (ids, (ids[0], ids[2]))
    assert (made.from_, made.to) == (found.messages[0].at, found.messages[2].at)
    assert (made.text, made.priority, made.task_state, made.suggested_response) == ("* noted", 3, "rest", "Go on")
    assert (made.tokens, made.message_tokens, made.model, made.cost) == (7, 150, "m", 0.5)
