"""Who is asked, in which order: an outage, a refusal or a limit of one model leads to the next, and burns nothing."""

from contextlib import contextmanager

import pytest
from world import Uncounted, World

from om_api import load_settings
from om_api.domain.errors import BudgetReachedError, ModelError
from om_api.domain.values import Outcome, Scope
from om_api.store.fleet import spending
from om_api.store.memory import scope_state
from om_workers.calls.admission import Admission, Passage
from om_workers.calls.ledger import Ledger
from om_workers.calls.model_calls import ModelCalls, _nobody, patience_ms
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
    """Remembers what the breakers would have heard."""

    def __init__(self):
        self.heard = []

    @contextmanager
    def admit(self, model, rate, tokens, timeout):
        passage = Passage()
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


@pytest.mark.parametrize("failure", [DOWN, BUSY, REFUSED, "loop"])
def test_whatever_keeps_one_from_answering_leads_to_the_next(ask, failure):
    assert ask(says("a", failure), says("b", failure), says("c", "fine")) == "c"


@pytest.mark.parametrize("failure", [DOWN, REFUSED, "loop"])
def test_extractive_steps_in_for_what_fails(ask, failure):
    assert ask(says("a", failure), Extractive()) == "extractive"


def test_extractive_does_not_step_in_for_what_is_merely_busy(ask):
    with pytest.raises(ModelError) as error:
        ask(says("a", BUSY), says("b", DOWN), Extractive())

    assert error.value.retryable
    assert error.value.retry_after == 10
    assert "a: 429" in str(error.value)
    assert "b: 503" in str(error.value)


def test_extractive_answers_when_it_is_named_first(ask):
    assert ask(Extractive(), says("a", "fine")) == "extractive"


def test_a_name_that_cannot_be_used_here_is_passed_over(ask):
    assert ask(says("b", "fine"), names=["no-key", "b"]) == "b"


def test_extractive_answers_when_no_name_can_be_used_here_at_all(ask):
    assert ask(names=["no-key", "no-provider"]) == "extractive"


@pytest.mark.parametrize(
    ("failures", "retryable", "retry_after"),
    [
        ([REFUSED, REFUSED], False, None),
        ([REFUSED, DOWN], True, None),
        ([DOWN, DOWN], True, None),
        ([BUSY, REFUSED], True, 40),
        ([BUSY, ModelError("429", retry_after=3)], True, 3),
        ([ModelError("429", retry_after=600), DOWN], True, 10),
    ],
)
def test_an_attempt_is_burned_only_when_nobody_may_answer_later(ask, failures, retryable, retry_after):
    models = [says(name, failure) for name, failure in zip("ab", failures, strict=True)]
    with pytest.raises(ModelError) as error:
        ask(*models)

    assert (error.value.retryable, error.value.retry_after) == (retryable, retry_after)


def test_a_model_that_is_alone_says_itself_why(ask):
    with pytest.raises(ModelError) as error:
        ask(says("a", DOWN))

    assert error.value is DOWN


def test_a_registry_that_refuses_a_request_of_this_size_leads_to_the_next(ask, world, monkeypatch):
    def too_large(self, name, tokens):
        if name == "tiered":
            raise ModelError("no tier takes so much", retryable=False)
        return self.known.get(name)

    monkeypatch.setattr(Named, "model_for", too_large)

    assert ask(says("b", "fine"), names=["tiered", "b"]) == "b"


# -- second tries


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


def test_after_the_last_try_the_next_model_is_asked(ask, pauses):
    first = says("a", DOWN, DOWN, DOWN, "too late")

    assert ask(first, says("b", "fine"), tries=3) == "b"
    assert len(first.requests) == 3


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


def test_a_provider_that_goes_on_refusing_is_left_after_the_last_try(ask, pauses):
    first = says("a", *[ModelError("429", retry_after=2)] * 3, "too late")

    assert ask(first, says("b", "fine"), tries=3) == "b"
    assert len(first.requests) == 3


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
    ask(
        says("a", DOWN, DOWN, DOWN),
        says("b", REFUSED),
        says("c", BUSY),
        says("d", "fine"),
        tries=3,
        admission=admission,
    )

    assert admission.heard == [*[("a", "failed")] * 3, ("b", "answered"), ("c", "busy"), ("d", "answered")]


def test_what_opened_the_breaker_is_said_and_not_that_it_is_open(ask, pauses, world):
    admission = Admission(world.services.connection, world.services.keys)
    for _ in range(2):
        with pytest.raises(ModelError, match="503"):
            ask(says("a", DOWN, DOWN, DOWN, DOWN), tries=3, admission=admission)

    unasked = says("a", "fine")
    assert ask(unasked, says("b", "fine"), tries=3, admission=admission) == "b"
    assert unasked.requests == []


def test_extractive_steps_in_for_an_open_breaker(ask, pauses, world):
    admission = Admission(world.services.connection, world.services.keys)
    first = says("a", *[DOWN] * 6)
    answered = [ask(first, Extractive(), tries=3, admission=admission) for _ in range(4)]

    assert answered == ["extractive"] * 4
    assert len(first.requests) == 5


def test_waiting_is_as_long_as_was_said_and_a_little_jitter():
    waits = [patience_ms(ModelError("429", retry_after=60)) for _ in range(100)]

    assert min(waits) >= 60_000
    assert max(waits) <= 66_000
    assert len(set(waits)) > 10
    assert all(5_000 <= patience_ms(DOWN) <= 16_500 for _ in range(100))


# -- the whole house


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
    """Two chunks, of a thread each, that are to be observed."""
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


def test_a_reflection_survives_the_outage_of_its_first_model_too(house, pauses):
    first, second = says("a", *[DOWN] * 9), Scripted.echo(name="b")
    world = house(first, second, observer_model="extractive", reflector_model="[a, b]")
    world.say(*[f"message {n}" for n in range(4)])
    world.om.force_observe(None, "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()

    assert [generation.model for generation in world.om.generations("harold")] == ["b"]
    assert [request.purpose for request in first.requests] == ["reflect"] * 3


def test_a_429_of_all_models_postpones_the_scope_and_burns_nothing(house):
    world = house(says("a", ModelError("429", retry_after=90)), says("b", ModelError("429", retry_after=60)))
    chunk, _ = sealed(world)
    now = world.client.time()[0] * 1000
    with pytest.raises(ModelError, match="no model of the list"):
        world.perform("observe_chunk", "harold", chunk)

    assert attempts(world, chunk) == 0
    assert now + 59_000 <= world.client.zscore(f"{world.prefix}:due:observe", "harold") <= now + 70_000


def test_an_outage_brings_a_scope_back_before_its_lease_would(house, pauses):
    world = house(says("a", *[DOWN] * 3), observer_model="a")
    chunk, _ = sealed(world)
    now = world.client.time()[0] * 1000
    with pytest.raises(ModelError):
        world.perform("observe_chunk", "harold", chunk)

    assert attempts(world, chunk) == 0
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") <= now + 25_000


def test_two_workers_respect_one_limit(house):
    # breaks when workers count by themselves
    world = house(Scripted.echo(name="a"), models__a__limits="{requests_per_minute: 1}")
    first, second = sealed(world)
    assert world.perform("observe_chunk", "harold", first) is Outcome.BUFFERED
    another = world.new_services(guarded=True)
    another.registry.model_for = world.services.registry.model_for
    world.services = another
    with pytest.raises(ModelError, match="at its limits"):
        world.perform("observe_chunk", "harold", second)

    assert attempts(world, second) == 0


# -- money --------------------------------------------------------------------------------------------------------------


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
    """Calls made and failed of each model, as they are billed to harold."""
    day = spending.day_of(int(world.client.time()[0]) * 1000)
    (found,) = world.services.run(spending.read(world.services.keys, [day], "harold"))
    parsed = {spending.parse(name): amount for name, amount in found.items()}
    return {(key[0], key[2]): n for key, n in parsed.items() if key and key[2] in {"calls", "failed"}}


def test_every_try_is_a_call_and_the_answers_cost_stands_in_it(world, book):
    asking = ModelCalls(
        Named(world.settings, says("a", DOWN, Reply(text="fine", model="a", usage=Usage(input=2, output=1)))),
        Everybody(),
        book(),
        world.settings,
        len,
        tries=2,
    )

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


def test_a_budget_that_pauses_keeps_the_extractive_model_out_and_one_that_says_so_lets_it_in(ask, book):
    with pytest.raises(ModelError) as refused:
        ask(says("a"), names=["a", "extractive"], ledger=book(calls_per_day=0))
    assert refused.value.retryable

    assert ask(says("a"), ledger=book(calls_per_day=0, then="extractive")) == "extractive"


def test_a_budget_in_dollars_leads_on_to_a_model_that_costs_nothing(ask, book):
    assert ask(says("a"), says("b", "fine"), ledger=book(dollars_per_day=0)) == "b"


def test_of_several_models_the_kind_is_that_of_one_that_may_answer_later():
    refused = {"a": ModelError("x", why="busy"), "b": ModelError("y", why="refused", retryable=False)}

    assert _nobody(["a", "b"], refused).why == "busy"
    assert _nobody(["b", "c"], {"b": refused["b"]}).why == "refused"
