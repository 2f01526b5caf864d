"""What an unobservable message costs: calls are counted, the rest is observed, and a model that is at fault is found out."""

import contextlib
import json
from math import log2

import pytest
from world import World

from om_api import Message
from om_api.domain.errors import ModelError
from om_api.store.memory.model_cooldown import WAIT_S
from om_workers.llm.base import Reply, TooLongError
from om_workers.llm.scripted import Scripted

MAX_ATTEMPTS = 3
N = 64  # messages
REFUSAL = "I am sorry, but I cannot help with that."
LOOP = "<observations>\n" + "* 🔴 (12:00) again and again and again\n" * 400 + "</observations>"


class Choking:
    """Observes what is said as Scripted.echo does, and counts; what `chokes` says goes wrong: an error, or a reply."""

    name = "choking"

    def __init__(self, chokes):
        self.chokes, self.echo, self.requests = chokes, Scripted.echo(), []

    def complete(self, request):
        self.requests.append(request)
        wrong = self.chokes(request)
        if isinstance(wrong, Exception):
            raise wrong
        return Reply(text=wrong, model=self.name) if wrong else self.echo.complete(request)


def poison(*ids, wrong=None):
    error = wrong or ModelError("blocked by the provider", retryable=False)
    return lambda request: error if {message.id for message in request.messages} & set(ids) else None


def one_chunk(client, prefix, chokes, **changed):
    sizes = {"message_threshold": "250000", "observation_threshold": "1000000", "tokenizer": "estimate", **changed}
    return World(client, prefix, model=Choking(chokes), **sizes)


def many_chunks(client, prefix, chokes):
    return one_chunk(client, prefix, chokes, message_threshold="4000")


def say(world, n=N):
    world.om.add_messages(
        Message(role="user", content=f"said {i}", id=f"m-{i}", thread_id="t-1", resource_id="harold", tokens=100)
        for i in range(n)
    )


def hurry(world):
    for name in world.client.zrange(f"{world.prefix}:due:observe", 0, -1):
        world.client.zadd(f"{world.prefix}:due:observe", {name: 1})


def observe(world, rounds=200):
    """Have everything observed and activated, however often it takes; whether it came to that."""
    world.om.force_observe(None, "harold")
    for _ in range(rounds):
        hurry(world)
        world.tick_forgiving()
        stats = world.om.stats("harold")
        if not stats.chunks and not stats.message_tokens:
            return True
    return False


def calls(client, prefix, house, chokes):
    """How many model calls it takes to observe N messages, and the house they were observed in."""
    world = house(client, prefix, chokes)
    say(world)
    assert observe(world)
    assert world.covering() == sorted(f"m-{i}" for i in range(N))
    assert world.om.verify() == []
    return len(world.model.requests), world


@pytest.fixture
def undisturbed(client, prefix_for):
    return lambda house: calls(client, prefix_for("undisturbed"), house, poison())[0]


@pytest.mark.parametrize(("house", "at"), [(one_chunk, (0, N // 2, N - 1)), (many_chunks, (N // 2 - 1,))])
def test_one_unobservable_message_among_many_costs_at_most_max_attempts_and_two_calls_a_halving(
    client, prefix_for, undisturbed, house, at
):
    """Breaks when an attempt asks twice, when halves get several attempts, or when halving is uneven."""
    usual = undisturbed(house)
    for n in at:
        disturbed, world = calls(client, prefix_for(n), house, poison(f"m-{n}"))
        assert disturbed - usual <= MAX_ATTEMPTS + 2 * log2(N), n
        (entry,) = world.om.rejected("harold")
        assert (entry.kind, json.loads(entry.member)["id"]) == ("unobservable", f"m-{n}")
        text = world.context().text
        assert text.count("could not be observed: blocked by the provider") == 1
        assert all(f"[m-{i}]" in text for i in range(N) if i != n)


def test_a_chunk_that_is_larger_than_the_window_is_halved_without_further_attempts(client, prefix_for, undisturbed):
    usual = undisturbed(one_chunk)

    def wrong(request):
        return TooLongError("too long") if len(request.messages) > N // 2 else None

    found, world = calls(client, prefix_for("small"), one_chunk, wrong)
    assert (found - usual, world.om.stats("harold").rejected) == (2, 0)


def test_a_refusal_or_a_loop_is_an_attempt_like_any_other(client, prefix_for, undisturbed):
    """Breaks when a reply without observations is asked for twice within one attempt."""
    usual = undisturbed(one_chunk)
    for n, wrong in enumerate((REFUSAL, LOOP, " ")):
        disturbed, world = calls(client, prefix_for(n), one_chunk, poison("m-17", wrong=wrong))
        assert disturbed - usual <= MAX_ATTEMPTS + 2 * log2(N), wrong
        assert len(world.om.rejected("harold")) == 1, wrong
    replies = [REFUSAL]  # one that fails once costs one call
    disturbed, world = calls(client, prefix_for("once"), one_chunk, lambda _: replies.pop() if replies else None)
    assert (disturbed - usual, world.om.rejected("harold")) == (1, [])


def test_a_call_is_observed_with_its_result_while_the_poison_is_searched(client, prefix):
    """Breaks when a chunk is halved in the middle of a pair: a model that wants both would cost two innocent messages."""

    def chokes(request):
        ids = {message.id for message in request.messages}
        torn = any((f"m-{i}" in ids) != (f"m-{i + 1}" in ids) for i in range(0, N, 2))
        wrong = ModelError("a result without its call" if torn else "blocked", retryable=False)
        return wrong if torn or "m-9" in ids else None

    world = one_chunk(client, prefix, chokes)
    call = {"type": "tool-call", "name": "look", "args": {}}
    result = {"type": "tool-result", "name": "look", "result": "found"}
    for i in range(0, N, 2):
        for n, role, part in ((i, "assistant", call), (i + 1, "tool", result)):
            fields = {"thread_id": "t-1", "resource_id": "harold", "tokens": 100, "id": f"m-{n}"}
            world.om.add_message(Message(role=role, content=[{**part, "tool_call_id": f"c-{i}"}], **fields))
    assert observe(world)
    assert sorted(json.loads(e.member)["id"] for e in world.om.rejected("harold")) == ["m-8", "m-9"]
    assert world.covering() == sorted(f"m-{i}" for i in range(N))


# -- when it is not the message ------------------------------------------------------------------------------------------


class Killed(BaseException):
    """A worker's end."""


def survive(world, rounds=25):
    world.om.force_observe(None, "harold")
    for _ in range(rounds):
        hurry(world)
        world.claim()
        while world.dispatch.queue:
            verb, ids = world.dispatch.queue.popleft()
            with contextlib.suppress(Killed, ModelError):
                world.perform(verb, *ids)


@pytest.mark.parametrize("wrong", [ModelError("400: this model knows no temperature", retryable=False), Killed()])
def test_a_model_that_can_observe_nothing_or_ends_every_worker_quarantines_nothing_and_is_asked_again_later(
    client, prefix, wrong
):
    """Breaks when a message is blamed without a question: every message of the memory becomes a placeholder."""
    at_fault, n, least = [True], 8, 30 if isinstance(wrong, Killed) else 0

    def chokes(_):
        if at_fault:
            raise wrong

    world = one_chunk(client, prefix, chokes)
    say(world, n)
    survive(world)
    asked, waits = len(world.model.requests), f"{prefix}:{{harold}}:lock:waits"
    assert asked <= MAX_ATTEMPTS + log2(n) + 1
    assert (world.om.stats("harold").rejected, world.om.observations("harold")) == (0, [])
    assert least < client.ttl(waits) <= (least + world.settings.memory.observer.timeout if least else WAIT_S)
    client.delete(waits)  # the time is over, and nothing is mended
    survive(world)
    assert 1 <= len(world.model.requests) - asked <= 2
    client.delete(waits)
    at_fault.clear()
    assert observe(world)
    assert world.om.stats("harold").rejected == 0
    assert world.covering() == sorted(f"m-{i}" for i in range(n))


def test_one_message_that_ends_every_worker_is_found_and_its_neighbours_are_observed(client, prefix):
    def chokes(request):
        if "m-0" in {message.id for message in request.messages}:
            raise Killed

    world = one_chunk(client, prefix, chokes)
    say(world, 8)
    survive(world)
    assert observe(world)
    assert [json.loads(entry.member)["id"] for entry in world.om.rejected("harold")] == ["m-0"]
    assert world.covering() == sorted(f"m-{i}" for i in range(8))
    assert not client.exists(f"{prefix}:{{harold}}:lock:waits")


def test_an_outage_while_the_model_is_doubted_quarantines_nothing(client, prefix):
    """Breaks when the harmless question's 503 counts as an answer."""
    harmless = [ModelError("503", retryable=True)] * 3

    def chokes(request):
        if request.messages[0].id == "om-harmless":
            return harmless.pop() if harmless else None
        return poison("m-0")(request)

    _, world = calls(client, prefix, one_chunk, chokes)
    assert harmless == []
    assert not client.exists(f"{prefix}:{{harold}}:lock:waits")
    assert len(world.om.rejected("harold")) == 1
