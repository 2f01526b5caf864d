"""What an unobservable message costs: calls are counted, the rest is observed, and a model that is at fault is found out."""

import json
from functools import cache
from math import ceil, floor, log2

import fakeredis
import pytest
from world import World

from om_api import Message
from om_api.domain.chunking import RawMessage
from om_api.domain.errors import ModelError
from om_api.domain.policy import Limits
from om_api.domain.values import Outcome
from om_api.store.memory import model_cooldown
from om_api.store.memory.model_cooldown import WAIT_S
from om_workers.llm.base import Reply
from om_workers.llm.scripted import Scripted
from om_workers.work.isolation import half

MAX_ATTEMPTS = 3
REFUSAL = "I am sorry, but I cannot help with that."
LOOP = "<observations>\n" + "* 🔴 (12:00) again and again and again\n" * 400 + "</observations>"
LIMITS = Limits()


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
    """Chokes on a request that holds one of these messages."""
    error = wrong or ModelError("blocked by the provider", retryable=False)
    return lambda request: error if {message.id for message in request.messages} & set(ids) else None


def one_chunk(client, prefix, chokes, **changed):
    """A house where 500 messages of 100 tokens are one chunk."""
    sizes = {"message_threshold": "250000", "observation_threshold": "1000000", "tokenizer": "estimate", **changed}
    return World(client, prefix, model=Choking(chokes), **sizes)


def many_chunks(client, prefix, chokes):
    """The same with chunks of 25 messages."""
    return one_chunk(client, prefix, chokes, message_threshold="12500")


def say(world, n=500):
    world.om.add_messages(
        Message(role="user", content=f"said {i}", id=f"m-{i}", thread_id="t-1", resource_id="harold", tokens=100)
        for i in range(n)
    )


def hurry(world):
    """Time passes: every lease has run out."""
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
    """How many model calls it takes to observe 500 messages, and the house they were observed in."""
    world = house(client, prefix, chokes)
    say(world)
    assert observe(world)
    assert world.covering() == sorted(f"m-{i}" for i in range(500))
    assert world.om.verify() == []
    return len(world.model.requests), world


@cache
def calls_without_poison(house):
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as client:
        return calls(client, "undisturbed", house, poison())[0]


@pytest.mark.parametrize("house", [one_chunk, many_chunks])
@pytest.mark.parametrize("at", [0, 1, 249, 250, 405, 499])
def test_one_unobservable_message_among_500_costs_at_most_max_attempts_and_two_calls_a_halving(
    client, prefix, house, at
):
    """Breaks when an attempt asks twice, when halves get several attempts, or when halving is uneven."""
    undisturbed = calls_without_poison(house)
    disturbed, world = calls(client, prefix, house, poison(f"m-{at}"))

    assert disturbed - undisturbed <= MAX_ATTEMPTS + 2 * log2(500)
    (entry,) = world.om.rejected("harold")
    assert (entry.kind, json.loads(entry.member)["id"]) == ("unobservable", f"m-{at}")
    text = world.context().text
    assert text.count("could not be observed: blocked by the provider") == 1
    assert all(f"[m-{i}]" in text for i in range(500) if i != at)


@pytest.mark.parametrize("pair", [(0, 1), (7, 480), (498, 499)])
def test_two_of_them_cost_no_more_than_twice_as_many_halvings(client, prefix, pair):
    undisturbed = calls_without_poison(one_chunk)
    disturbed, world = calls(client, prefix, one_chunk, poison(*(f"m-{at}" for at in pair)))

    assert disturbed - undisturbed <= MAX_ATTEMPTS + 2 * 2 * log2(500)
    assert sorted(json.loads(e.member)["id"] for e in world.om.rejected("harold")) == sorted(f"m-{at}" for at in pair)


@pytest.mark.parametrize("wrong", [REFUSAL, LOOP, ""], ids=["refusal", "loop", "empty"])
def test_a_refusal_or_a_loop_is_an_attempt_like_any_other(client, prefix, wrong):
    """Breaks when a reply without observations is asked for twice within one attempt."""
    undisturbed = calls_without_poison(one_chunk)
    disturbed, world = calls(client, prefix, one_chunk, poison("m-77", wrong=wrong or " "))

    assert disturbed - undisturbed <= MAX_ATTEMPTS + 2 * log2(500)
    assert len(world.om.rejected("harold")) == 1


def test_a_chunk_that_fails_once_and_then_works_costs_one_call(client, prefix):
    undisturbed = calls_without_poison(one_chunk)
    replies = [REFUSAL]
    disturbed, world = calls(client, prefix, one_chunk, lambda _: replies.pop() if replies else None)

    assert disturbed - undisturbed == 1
    assert world.om.rejected("harold") == []


def test_a_call_is_observed_with_its_result_while_the_poison_is_searched(client, prefix):
    """Breaks when a chunk is halved in the middle of a pair: a model that wants both would cost two innocent messages."""

    def chokes(request):
        ids = {message.id for message in request.messages}
        torn = any((f"m-{i}" in ids) != (f"m-{i + 1}" in ids) for i in range(0, 500, 2))
        return (
            ModelError("a result without its call" if torn else "blocked", retryable=False)
            if torn or "m-9" in ids
            else None
        )

    world = one_chunk(client, prefix, chokes)
    call = {"type": "tool-call", "name": "look", "args": {}}
    result = {"type": "tool-result", "name": "look", "result": "found"}
    for i in range(0, 500, 2):
        for n, role, part in ((i, "assistant", call), (i + 1, "tool", result)):
            fields = {"thread_id": "t-1", "resource_id": "harold", "tokens": 100, "id": f"m-{n}"}
            world.om.add_message(Message(role=role, content=[{**part, "tool_call_id": f"c-{i}"}], **fields))
    assert observe(world)

    assert sorted(json.loads(e.member)["id"] for e in world.om.rejected("harold")) == ["m-8", "m-9"]
    assert world.covering() == sorted(f"m-{i}" for i in range(500))


@pytest.mark.parametrize("after", [1, 5, 30])
def test_no_outage_burns_an_attempt_even_while_the_poison_is_searched(client, prefix, after):
    """Breaks when a retryable error is counted: the halves have one attempt each, an outage would quarantine innocents."""
    seen = []

    def chokes(request):
        seen.append(request)
        if after < len(seen) <= after + 20:
            return ModelError("503", retryable=True)
        return poison("m-77")(request)

    undisturbed = calls_without_poison(one_chunk)
    disturbed, world = calls(client, prefix, one_chunk, chokes)

    assert disturbed - undisturbed <= MAX_ATTEMPTS + 2 * log2(500) + 20
    assert [json.loads(entry.member)["id"] for entry in world.om.rejected("harold")] == ["m-77"]


# -- when it is not the message ------------------------------------------------------------------------------------------


def test_a_model_that_can_observe_nothing_quarantines_nothing_and_is_asked_again_later(client, prefix):
    """Breaks when a single message is blamed without a question: every message of the memory becomes a placeholder."""
    at_fault = [True]
    broken = ModelError("400: this model knows no temperature", retryable=False)
    world = one_chunk(client, prefix, lambda _: broken if at_fault else None)
    say(world)

    assert not observe(world, rounds=60)
    asked = len(world.model.requests)
    assert asked <= MAX_ATTEMPTS + log2(500) + 1
    assert (world.om.stats("harold").rejected, world.om.observations("harold")) == (0, [])
    waits = f"{prefix}:{{harold}}:lock:waits"
    assert 0 < client.ttl(waits) <= WAIT_S

    client.delete(waits)  # the time is over, and nothing is mended
    observe(world, rounds=10)
    assert len(world.model.requests) == asked + 2

    client.delete(waits)
    at_fault.clear()
    assert observe(world)
    assert world.om.stats("harold").rejected == 0
    assert world.covering() == sorted(f"m-{i}" for i in range(500))


def test_a_memory_that_waits_is_looked_at_again_when_it_has_waited_and_not_before(client, prefix):
    """Catches a look that hands out what nobody may observe: with several chunks free it marked the scope due at once, and
    the next look did the same, 50 times a second."""
    world = World(client, prefix, observer__max_tokens_per_batch="0")
    for thread in ("t-1", "t-2"):
        world.say(*("x" for _ in range(8)), thread=thread, tokens=500)
    world.scope_worker().observe("harold")
    world.services.run(model_cooldown.wait(world.services.keys, "harold", 9))
    hurry(world)

    assert world.tick() == [Outcome.REST]
    waits = f"{prefix}:{{harold}}:lock:waits"
    due = client.zscore(f"{prefix}:due:observe", "harold")
    assert due == pytest.approx(client.pexpiretime(waits), abs=2_000)
    assert len(world.covering()) == 16

    client.delete(waits)
    assert observe(world)


def test_who_waits_for_another_model_is_told_what_to_do(client, prefix):
    broken = ModelError("400: this model knows no temperature", retryable=False)
    world = one_chunk(client, prefix, lambda _: broken)
    say(world, 1)
    world.om.force_observe(None, "harold")
    world.claim()
    errors = []
    while world.dispatch.queue:
        verb, ids = world.dispatch.queue.popleft()
        try:
            world.perform(verb, *ids)
        except ModelError as error:
            errors.append(str(error))
            hurry(world)
            world.claim()

    assert len(errors) == MAX_ATTEMPTS
    assert "nothing was quarantined. Correct observer_model or its settings" in errors[-1]


class Killed(BaseException):
    """A worker's end."""


def survive(world, rounds=60):
    """Have everything observed by workers that a model may end; how many it ended."""
    world.om.force_observe(None, "harold")
    ended = 0
    for _ in range(rounds):
        hurry(world)
        world.claim()
        while world.dispatch.queue:
            verb, ids = world.dispatch.queue.popleft()
            try:
                world.perform(verb, *ids)
            except (Killed, ModelError):
                ended += 1
    return ended


def test_a_model_that_ends_every_worker_quarantines_nothing_and_is_asked_again_later(client, prefix):
    """Breaks when a message is blamed because workers died: a model that fills their memory would cost all messages."""
    deadly = [True]

    def chokes(_):
        if deadly:
            raise Killed

    world = one_chunk(client, prefix, chokes)
    say(world, 8)

    ended = survive(world)
    assert ended <= MAX_ATTEMPTS + log2(8) + 1
    assert (world.om.stats("harold").rejected, world.om.observations("harold")) == (0, [])
    waits = f"{prefix}:{{harold}}:lock:waits"
    assert 30 < client.ttl(waits) <= 30 + world.settings.memory.observer.timeout < WAIT_S

    client.delete(waits)  # the time is over, and nothing is mended
    assert 1 <= survive(world) <= 2
    assert world.om.stats("harold").rejected == 0

    client.delete(waits)
    deadly.clear()
    assert observe(world)
    assert world.om.stats("harold").rejected == 0
    assert world.covering() == sorted(f"m-{i}" for i in range(8))


@pytest.mark.parametrize("n", [1, 8])
def test_one_message_that_ends_every_worker_is_found_and_its_neighbours_are_observed(client, prefix, n):
    def chokes(request):
        if "m-0" in {message.id for message in request.messages}:
            raise Killed

    world = one_chunk(client, prefix, chokes)
    say(world, n)

    survive(world)
    assert observe(world)
    assert [json.loads(entry.member)["id"] for entry in world.om.rejected("harold")] == ["m-0"]
    assert world.covering() == sorted(f"m-{i}" for i in range(n))
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


def test_what_came_before_can_be_at_fault_and_costs_no_message(client, prefix):
    """Breaks when the last attempt shows the earlier notes too: every message after them becomes a placeholder."""

    def chokes(request):
        told = "[m-3]" in request.prompt.split("<messages>")[0]
        return ModelError("blocked by the provider", retryable=False) if told else None

    world = World(client, prefix, model=Choking(chokes))
    say(world, 40)

    assert observe(world)
    assert world.om.rejected("harold") == []
    assert len(world.covering()) == 40


def test_one_attempt_is_shown_what_came_before_even_though_it_is_the_last(client, prefix):
    world = World(client, prefix, model=Choking(poison()), observer__max_attempts="1")
    say(world, 6)
    observe(world)

    assert "[m-0]" in world.model.requests[-1].prompt.split("<messages>")[0]


def plain(n):
    return [RawMessage(10, at) for at in range(n)]


def pairs(n, every=2):
    """A call and its result at the end of every `every` turns."""
    calls = {at: str(at) for at in range(every - 2, n, every)}
    return [
        RawMessage(
            10, at, frozenset({calls[at]} if at in calls else ()), frozenset({calls[at - 1]} if at - 1 in calls else ())
        )
        for at in range(n)
    ]


def depths(turns):
    """How many halvings each turn takes until it is alone."""
    if len(turns) == 1:
        return [0]
    n = half(turns, LIMITS)
    return [1 + depth for depth in (*depths(turns[:n]), *depths(turns[n:]))]


@pytest.mark.parametrize("turns", [plain, pairs, lambda n: pairs(n, 3), lambda n: pairs(n, 4), lambda n: pairs(n, 7)])
def test_no_turn_takes_more_halvings_than_the_logarithm_of_their_number(turns):
    assert [n for n in (2, 3, 5, 8, 60, 127, 128, 129, 500) if max(depths(turns(n))) > ceil(log2(n))] == []


@pytest.mark.parametrize("n", [3, 5, 60, 129, 500])
def test_the_first_turn_takes_the_fewest_because_its_trial_is_paid_for_with_a_question_more(n):
    """The first has no neighbour that was observed before it: the model is asked for something harmless then."""
    assert depths(plain(n))[0] == floor(log2(n))


def test_a_call_stays_with_its_result_until_they_are_alone():
    turns = pairs(500)
    parts, parted = [turns], []
    while parts:
        part = parts.pop()
        n = half(part, LIMITS)
        parted += [len(part)] if part[n - 1].calls & part[n].answers else []
        parts += [some for some in (part[:n], part[n:]) if len(some) > 1]

    assert set(parted) == {2}


def test_a_call_without_a_result_holds_nothing_together():
    turns = plain(12)
    turns[1] = turns[1]._replace(calls=frozenset({"never answered"}))
    turns[5], turns[6] = turns[5]._replace(calls=frozenset({"c"})), turns[6]._replace(answers=frozenset({"c"}))

    assert half(turns, LIMITS) == 5


def test_where_everything_hangs_together_the_middle_is_cut():
    turns = plain(6)
    turns[0], turns[5] = turns[0]._replace(calls=frozenset({"c"})), turns[5]._replace(answers=frozenset({"c"}))

    assert half(turns, LIMITS) == 3
