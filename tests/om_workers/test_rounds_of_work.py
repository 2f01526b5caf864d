"""What workers ask, what they note, when, and what it costs."""

import json
from collections import Counter

import pytest
from world import Everybody, World

from om_api.domain.errors import BudgetReachedError, ModelError, StoreError
from om_api.domain.values import Outcome, Scope
from om_api.store.memory import chunks, scope_state
from om_workers.calls.ledger import Ledger
from om_workers.calls.model_calls import ModelCalls
from om_workers.llm.base import Reply, Usage
from om_workers.llm.scripted import Scripted
from om_workers.prompts.library import prompt

NOTES = """Date: Dec 30, 2025
* 🟡 (09:15) Edited app/[slug]/page.tsx; items[0] -> items[1], [72 items collapsed], a => b
  * -> moved `C:\\Temp\\x` to ~/y  (two blanks), see [docs](https://example.org/a_(b)?c=1&d=2#e)
    if a < b and c > d:  # indented by four
\tx = {"k": [1, 2]}  # indented by a tab
* 🟢 (09:20) ✅ <div class="x">&amp;</div> <- -> <-> |--| +--+ ..."""


def test_code_paths_brackets_arrows_and_indentation_reach_the_context_as_models_wrote_them(world):
    world.model = Scripted(*[f"<observations>\n{NOTES}\n</observations>"] * 5)
    world.say("edit the page")
    world.om.force_observe("t-1", "harold")
    world.settle()
    assert world.om.observations("harold")[0].text == NOTES
    assert NOTES in world.context().text
    assert NOTES in world.context().as_openai()[0]["content"]
    world.om.force_reflect("harold")
    world.settle()
    assert world.om.generations("harold")[0].text == NOTES
    assert NOTES in world.context().text


NOTHING = "<observations>\n</observations>"


def test_nothing_worth_noting_covers_the_messages_and_nobody_is_asked_about_them_again(client, prefix):
    world = World(client, prefix)
    world.model = Scripted(*[NOTHING] * 9)
    ids = world.say("haha ok", "thanks!")
    world.om.force_observe(resource_id="harold")
    world.settle()
    asked = len(world.model.requests)
    world.settle()
    assert [name for each in world.om.observations("harold") for name in each.message_ids] == ids
    assert {each.text for each in world.om.observations("harold")} == {""}
    assert world.context().messages == []
    assert len(world.model.requests) == asked


def _observed(world):
    """The ids of the messages of each request to the Observer, in the order it was asked."""
    return [[message.id for message in request.messages] for request in world.model.requests if _observes(request)]


def _observes(request):
    return request.purpose == "observe"


def test_below_the_size_of_a_chunk_no_model_is_asked_and_at_it_it_is(world):
    said = world.say("hello", tokens=199)
    world.settle()
    assert world.model.requests == []
    assert len(world.context().messages) == 1
    said += world.say("more", tokens=1)
    world.settle()
    assert _observed(world) == [said]
    world.say("short", tokens=10)
    world.om.force_observe("t-1", "harold")  # it changes no threshold
    world.settle()
    asked = len(world.model.requests)
    world.say("short again", tokens=10)
    world.settle()
    assert len(world.model.requests) == asked == 2


def test_each_message_is_sent_to_the_observer_once_however_the_window_fills_and_empties(world):
    """Also what an activation left raw, what came while it was made, and a first message that is a whole book."""
    said = world.say("a whole book", tokens=50_000)
    world.tick()
    assert _observed(world) == [said]
    for n in range(30):
        said += world.say(f"message {n}", tokens=70 + 3 * n)
        world.tick()
    world.om.force_observe("t-1", "harold")
    world.settle()
    asked = [name for names in _observed(world) for name in names]
    assert asked == said


def test_a_call_that_fails_leaves_its_messages_raw_and_nobody_observing(world):
    said = world.say("one", tokens=200)
    world.model = Scripted(ModelError("away", retryable=True))
    world.tick_forgiving()
    assert not world.om.stats("harold").observing
    assert [message.id for message in world.context().messages] == said


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


def _queued(world):
    return [ids for verb, ids in world.dispatch.queue if verb == "observe_chunk"]


def _look(world):
    world.claim()
    return world.perform("observe", *world.dispatch.queue.popleft()[1])


def test_chunks_of_different_threads_are_observed_side_by_side_and_those_of_one_in_order(world):
    for thread in ("a", "b", "c"):
        world.say(*[f"message {n}" for n in range(4)], thread=thread)
    assert _look(world) is Outcome.SEALED
    asked = [chunk for _, *together in _queued(world) for chunk in together]
    key = f"{world.prefix}:{{harold}}:chunk:"
    assert sorted(world.client.hget(key + chunk, "thread") for chunk in asked) == [b"a", b"b", b"c"]
    assert world.om.stats("harold").chunks > 3


def test_a_429_postpones_the_scope_and_burns_no_attempt(world):
    world.say(*[f"message {n}" for n in range(2)])
    _look(world)
    world.model = Scripted(ModelError("429", retryable=True, retry_after=60))
    ((_, chunk),) = _queued(world)
    now = world.client.time()[0] * 1000
    with pytest.raises(ModelError):
        world.perform("observe_chunk", "harold", chunk)
    assert world.client.hget(f"{world.prefix}:{{harold}}:chunk:{chunk}", "attempts") == b"0"
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") >= now + 55_000


def test_the_same_moment_is_another_day_for_agents_of_other_zones(client, prefix_for):
    """Half past ten in the morning of March 1 in UTC is March 2 on one side of the date line, February 28 on the other."""
    for zone, date in (("Pacific/Kiritimati", "Date: Mar 2, 2026"), ("Pacific/Niue", "Date: Feb 28, 2026")):
        world = World(client, prefix_for(zone[-4:]), timezone=zone, min_recent_messages="0")
        world.say("it is now", timestamp="2026-03-01T10:30:00Z")
        world.om.force_observe("t-1", "harold")
        world.settle()
        (note,) = world.om.observations("harold")
        context = world.context().text
        assert (note.text.partition("\n")[0], date in context, f"({zone})" in context) == (date, True, True), zone


def test_the_record_carries_the_limits_in_force_for_clients_without_the_yaml(client, prefix):
    world = World(client, prefix, message_threshold="900")
    world.say(*[f"message {n}" for n in range(8)])
    world.settle()
    stranger = World(client, prefix, message_threshold="90000")
    limits = json.loads(client.hget(f"{prefix}:{{harold}}:record", "limits"))["limits"]
    assert limits["message_threshold"] == 900
    assert stranger.om.stats("harold").message_threshold == 900
    stranger.say("the ninth", "the tenth")
    assert stranger.context().observations


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


PRICED = {"models__priced__prices": "{input: 1, cached: 0.1, output: 4}", "observer_model": "priced"}


class Paid(Scripted):
    """A model that uses as much in every call: 1,000 tokens in, 600 of them cached, 200 out."""

    def complete(self, request) -> Reply:
        answer = super().complete(request)
        return Reply(text=answer.text, model=self.name, usage=Usage(input=1_000, cached=600, output=200))


class Counted(World):
    def new_services(self, **guarded):
        services = super().new_services(**guarded)
        book = Ledger(self.settings, services.connection, services.keys, services.events)
        asking = ModelCalls(services.registry, Everybody(), book, self.settings, services.count, tries=1)
        return services._replace(models=asking)


@pytest.fixture
def house(client, prefix):
    """Such a world with a model that costs 0.00126 dollars a call, or another one, and settings that a test names."""

    def make(model=None, **changed):
        return Counted(client, prefix, model or Paid.echo(name="priced"), **{**PRICED, **changed})

    return make


def talk(world, messages=12):
    world.say(*[f"message {n}" for n in range(messages)])
    world.tick_forgiving()
    world.tick_forgiving()


def test_observations_and_generations_say_what_they_cost(house):
    world = house()
    talk(world)
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    assert {observation.cost for era in world.om.history("harold") for observation in era.replaced} == {0.00126}
    made = world.om.generations("harold")[-1]
    assert made.cost == pytest.approx(0.00126 * len(made.candidates))
    asked = Counter(request.purpose for request in world.model.requests)
    assert {line.purpose: line.calls for line in world.om.costs("harold").lines} == asked


def test_work_whose_budget_is_used_up_waits_burns_no_attempt_and_goes_on_when_it_is_raised(house):
    world = house(budget__calls_per_day="0")
    world.say(*[f"message {n}" for n in range(3)])
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    with pytest.raises(BudgetReachedError):
        world.work()
    now = 1_000 * world.client.time()[0]
    waits = world.client.zscore(world.services.keys.due_observe, "harold") - now
    chunks = world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks
    assert min(200_000, 86_400_000 - now % 86_400_000) - 2_000 < waits < 400_000  # or until midnight
    assert (world.model.requests, {chunk.attempts for chunk in chunks}) == ([], {0})
    assert len(world.context().messages) == 3
    rich = house(budget__calls_per_day="100")
    rich.om.force_observe("t-1", "harold")
    rich.settle()
    assert rich.om.observations("harold")


def test_observer_and_reflector_are_asked_with_the_prompts_that_their_settings_name(client, prefix):
    world = World(client, prefix, observer__prompt="condensed", reflection__prompt="legacy", thread_titles="false")
    world.model = Scripted.echo()
    for n in range(6):
        world.say(f"message {n} " + "x" * 400)
    world.om.force_observe(resource_id="harold")
    world.settle()
    world.om.force_reflect("harold")
    world.reflector().reflect("harold")
    asked = {request.purpose: request.system for request in world.model.requests}
    assert asked == {"observe": prompt("observer", "condensed"), "reflect": prompt("reflector", "legacy")}
