"""Who is asked, in which order: an outage, a refusal or a limit of one model leads to the next, and burns nothing."""

from contextlib import contextmanager

import pytest
from world import Uncounted, World

from om_api import load_settings
from om_api.domain.errors import BudgetReachedError, ModelError
from om_api.domain.values import Outcome, Scope
from om_api.store.fleet import spending
from om_api.store.memory import scope_state
from om_workers.calls.admission import Passage
from om_workers.calls.ledger import Ledger
from om_workers.calls.model_calls import ModelCalls
from om_workers.calls.registry import Registry
from om_workers.llm.base import Reply, Request, Usage
from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted

REQUEST = Request(purpose="observe", system="s", prompt="p", timeout=60)
DOWN, BUSY, REFUSED = ModelError("503"), ModelError("429", retry_after=40), ModelError("blocked", retryable=False)


class Named(Registry):
    """Knows the models it was given, by their names; whoever is missing is not available here."""

    def __init__(self, settings, *models):
        super().__init__(settings)
        self.known = {model.name: model for model in models} | {"extractive": self.extractive}

    def model_for(self, name, tokens):
        return self.known.get(name)


class Everybody:
    def __init__(self):
        self.heard = []

    @contextmanager
    def admit(self, model, rate, tokens, timeout, resource):
        passage = Passage()
        assert resource == "harold"
        try:
            yield passage
        finally:
            self.heard.append((model, passage.outcome))


@pytest.fixture
def ask(world):
    """Ask these models, in this order, once each; `read` takes every answer but "loop"."""

    def run(*models, names=None, tries=1, admission=None, ledger=None, request=REQUEST):
        registry, doors, book = Named(world.settings, *models), admission or Everybody(), ledger or Uncounted()
        asking = ModelCalls(registry, doors, book, world.settings, len, tries=tries)
        reply, text = asking.ask("harold", names or [model.name for model in models], request, _read)
        assert reply.text == text
        return reply.model

    return run


def _read(reply):
    if reply.text == "loop":
        raise ModelError(f"{reply.model} gave a loop", retryable=False)
    return reply.text


def says(name, *replies):
    return Scripted(*replies, name=name)


def test_the_first_model_that_answers_is_the_only_one_asked(ask):
    second = says("b", "unasked")
    assert ask(says("a", "fine"), second) == "a"
    assert second.requests == []
    for failure in (DOWN, BUSY, REFUSED, "loop"):
        assert ask(says("a", failure), says("b", failure), says("c", "fine")) == "c", failure
    assert ask(says("b", "fine"), names=["no-key", "b"]) == "b"


def test_extractive_steps_in_for_what_fails_but_not_for_what_is_busy(ask):
    for failure in (DOWN, REFUSED, "loop"):
        assert ask(says("a", failure), Extractive()) == "extractive", failure
    with pytest.raises(ModelError) as error:
        ask(says("a", BUSY), says("b", DOWN), Extractive())
    assert error.value.retryable
    assert error.value.retry_after == 10
    assert "a: 429" in str(error.value)
    assert "b: 503" in str(error.value)
    assert ask(Extractive(), says("a", "fine")) == "extractive"
    assert ask(names=["no-key", "no-provider"]) == "extractive"


def test_an_attempt_is_burned_only_when_nobody_may_answer_later(ask):
    for failures, retryable, retry_after in [
        ([REFUSED, REFUSED], False, None), ([REFUSED, DOWN], True, None), ([DOWN, DOWN], True, None),
        ([BUSY, REFUSED], True, 40), ([BUSY, ModelError("429", retry_after=3)], True, 3),
        ([ModelError("429", retry_after=600), DOWN], True, 10),
    ]:  # fmt: skip
        models = [says(name, failure) for name, failure in zip("ab", failures, strict=True)]
        with pytest.raises(ModelError) as error:
            ask(*models)
        assert (error.value.retryable, error.value.retry_after) == (retryable, retry_after), failures


class Pauses(list):
    """Stands for time: it passes by itself when a test says so, and who sleeps is noted."""

    clock = 0.0

    def sleep(self, seconds):
        self.append(seconds)

    def monotonic(self):
        return self.clock


@pytest.fixture
def pauses(monkeypatch):
    time = Pauses()
    monkeypatch.setattr("om_workers.calls.model_calls.time", time)
    monkeypatch.setattr("om_workers.process.stopping.Stopping.pause", lambda _, seconds: time.sleep(seconds))
    return time


def test_a_connection_that_breaks_is_tried_again_twice_at_most(ask, pauses):
    model = says("a", DOWN, DOWN, "fine", "unasked")
    assert ask(model, tries=3) == "a"
    assert len(model.requests) == 3
    assert len(pauses) == 2
    assert 0 <= pauses[0] <= 1
    assert 0 <= pauses[1] <= 2


@pytest.mark.parametrize("failure", [BUSY, REFUSED])
def test_what_another_try_cannot_mend_is_not_tried_again(ask, pauses, failure):
    first = says("a", failure, "unasked")
    assert ask(first, says("b", "fine"), tries=3) == "b"
    assert (len(first.requests), pauses) == (1, [])


def test_a_short_wait_that_the_provider_asks_for_is_waited_by_that_call_alone(ask, pauses):
    """What it was before: the scope was put off until a tick came, and every other call of the model with it."""
    model = says("a", ModelError("429", retry_after=2), "fine")
    assert ask(model, tries=3) == "a"
    (pause,) = pauses
    assert 2 <= pause <= 2.2


def test_all_tries_together_take_no_longer_than_one_request_may(ask, pauses):
    def slow(request):
        pauses.clock += 40
        raise DOWN

    model = says("a", slow, slow, "too late")
    with pytest.raises(ModelError):
        ask(model, tries=3)
    assert [request.timeout for request in model.requests] == [60, 20]


def test_the_breaker_hears_of_every_try_and_of_nothing_else(ask, pauses):
    admission = Everybody()
    models = [says("a", DOWN, DOWN, DOWN), says("b", REFUSED), says("c", BUSY), says("d", "fine")]
    ask(*models, tries=3, admission=admission)
    assert admission.heard == [*[("a", "failed")] * 3, ("b", "answered"), ("c", "busy"), ("d", "answered")]


@pytest.fixture
def house(client, prefix):
    """A house whose Observer may ask three models, with the breakers that everybody has."""

    def build(*models, **changed):
        alone = {"observer_model": "[a, b, extractive]", "observer__max_tokens_per_batch": "0"}
        world = World(client, prefix, **{**alone, **changed})
        known = {model.name: model for model in models} | {"extractive": Extractive()}
        world.services = world.new_services(guarded=True)
        world.services.registry.model_for = lambda name, tokens: known.get(name)
        return world

    return build


def sealed(world):
    for thread in ("t-1", "t-2"):
        world.say("one", "two", thread=thread)
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    return [chunk.id for chunk in world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks]


def attempts(world, chunk):
    return int(world.client.hget(f"{world.prefix}:{{harold}}:chunk:{chunk}", "attempts"))


def test_a_chain_survives_the_outage_of_its_first_model_without_an_attempt_lost(house, pauses):
    first, second = says("a", *[DOWN] * 9), Scripted.echo(name="b")
    world = house(first, second)
    chunks = sealed(world)
    assert [world.perform("observe_chunk", "harold", chunk) for chunk in chunks] == [Outcome.BUFFERED] * 2
    assert [attempts(world, chunk) for chunk in chunks] == [1, 1]
    assert len(second.requests) == 2
    assert len(first.requests) == 5  # then its breaker is open


def test_a_429_of_all_models_postpones_the_scope_and_burns_nothing(house):
    world = house(says("a", ModelError("429", retry_after=90)), says("b", ModelError("429", retry_after=60)))
    chunk, _ = sealed(world)
    now = world.client.time()[0] * 1000
    with pytest.raises(ModelError, match="no model of the list"):
        world.perform("observe_chunk", "harold", chunk)
    assert attempts(world, chunk) == 0
    assert now + 59_000 <= world.client.zscore(f"{world.prefix}:due:observe", "harold") <= now + 70_000


@pytest.fixture
def book(world):
    """The ledger of a world in which a model costs a dollar a token, with these budgets."""

    def make(**budget):
        changed = {f"OM_BUDGET__{name.upper()}": str(value) for name, value in budget.items()}
        prices = {"OM_MODELS__A__PRICES": "{input: 1000000, output: 1000000}"}
        settings = load_settings(environ={"OM_PREFIX": world.prefix, **prices, **changed})
        return Ledger(settings, world.services.connection, world.services.keys, world.services.events)

    return make


def calls(world):
    day = spending.day_of(int(world.client.time()[0]) * 1000)
    (found,) = world.services.run(spending.read(world.services.keys, [day], "harold"))
    parsed = {spending.parse(name): amount for name, amount in found.items()}
    return {(key[0], key[2]): n for key, n in parsed.items() if key and key[2] in {"calls", "failed"}}


def test_every_try_is_a_call_and_the_answers_cost_stands_in_it(world, book):
    model = says("a", DOWN, Reply(text="fine", model="a", usage=Usage(input=2, output=1)))
    asking = ModelCalls(Named(world.settings, model), Everybody(), book(), world.settings, len, tries=2)
    reply, _ = asking.ask("harold", ["a"], REQUEST, _read)
    assert reply.cost == 3
    assert calls(world) == {("a", "calls"): 2, ("a", "failed"): 1}


def test_a_budget_counts_the_calls_of_every_model_of_the_list(ask, world, book):
    """Breaks when a model is called anywhere but where its call is counted."""
    ledger = book(calls_per_day=2)
    assert ask(says("a", DOWN), says("b", "fine"), ledger=ledger) == "b"
    unasked = says("a", "fine")
    with pytest.raises(BudgetReachedError) as refused:
        ask(unasked, ledger=ledger)
    assert refused.value.retryable
    assert 0 < refused.value.retry_after <= 300
    assert unasked.requests == []


def test_a_budget_in_dollars_leads_to_a_free_model_and_extractive_only_where_it_says_so(ask, book):
    with pytest.raises(ModelError) as refused:
        ask(says("a"), names=["a", "extractive"], ledger=book(calls_per_day=0))
    assert refused.value.retryable
    assert ask(says("a"), ledger=book(calls_per_day=0, then="extractive")) == "extractive"
    assert ask(says("a"), says("b", "fine"), ledger=book(dollars_per_day=0)) == "b"
