"""Money in a house at work: answers carry what they cost, and a budget that is used up makes work wait or go on for nothing."""

import pytest
from world import Everybody, World

from om_api.domain.errors import BudgetReachedError, ModelError
from om_api.domain.values import Scope
from om_api.store.memory import scope_state
from om_workers.calls.admission import Admission
from om_workers.calls.ledger import Ledger
from om_workers.calls.model_calls import ModelCalls
from om_workers.llm.base import BilledError, Reply, Request, TurnedAwayError, Usage
from om_workers.llm.scripted import Scripted

PRICED = {"models__priced__prices": "{input: 1, cached: 0.1, output: 4}", "observer_model": "priced"}

REQUEST = Request(purpose="observe", system="", prompt="")
ONE_A_MINUTE = {"models__priced__limits": "{requests_per_minute: 1}"}


class Paid(Scripted):
    """A model that uses as much in every call: 1,000 tokens in, 600 of them cached, 200 out."""

    def complete(self, request) -> Reply:
        answer = super().complete(request)
        return Reply(text=answer.text, model=self.name, usage=Usage(input=1_000, cached=600, output=200))


class Counted(World):
    """A world whose calls are counted and billed."""

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


def test_every_call_of_the_workers_is_in_the_bills(house):
    world = house()
    talk(world)
    world.om.force_reflect("harold")
    world.settle()
    bills = {line.purpose: line.calls for line in world.om.costs("harold").lines}
    asked = [request.purpose for request in world.model.requests]

    assert bills == {"observe": asked.count("observe"), "reflect": asked.count("reflect")}
    assert bills["observe"] > 1


def test_an_answer_that_cannot_be_used_is_billed_and_counts_against_the_budget(house):
    useless = BilledError(ModelError("ran out of room", retryable=False), Usage(input=1_000, cached=600, output=200))
    world = house(Scripted(useless, useless, useless, name="priced"), budget__tokens_per_day="2000")
    for expected in (BilledError, BilledError, BudgetReachedError):
        with pytest.raises(expected):
            world.services.models.ask("harold", ["priced"], REQUEST, str)
    (line,) = world.om.costs("harold").lines

    assert (line.calls, line.failed, line.input, line.output, line.cost) == (2, 2, 2_000, 400, 0.00252)


def test_a_call_that_the_provider_turns_away_leaves_the_budget_of_calls_as_it_was(house):
    away = [TurnedAwayError("refused (401)", why="refused") for _ in range(3)]
    world = house(Scripted(*away, name="priced"), budget__calls_per_day="1")
    for _ in away:
        with pytest.raises(TurnedAwayError):
            world.services.models.ask("harold", ["priced"], REQUEST, str)
    costs = world.om.costs("harold")

    assert (costs.lines[0].calls, costs.lines[0].failed) == (3, 3)
    assert (costs.budgets[0].used, costs.budgets[0].reached) == (0, False)


def test_a_server_that_does_not_say_what_an_answer_took_is_billed_what_the_answer_says(house):
    world = house(Scripted("word " * 40, name="priced"), budget__tokens_per_day="1000")
    world.services.models.ask("harold", ["priced"], Request(purpose="observe", system="", prompt="long " * 400), str)
    (line,) = world.om.costs("harold").lines

    assert (line.estimated, world.om.costs("harold").estimated) == (1, 1)
    assert 0 < line.output < line.input / 5


def strict(world):
    """The same house with the limits of its models in force, and nobody waits for them."""
    services, book = (
        world.services,
        Ledger(world.settings, world.services.connection, world.services.keys, world.services.events),
    )
    doors = Admission(services.connection, services.keys, patience=0)
    return ModelCalls(services.registry, doors, book, world.settings, services.count, tries=1)


def test_who_has_no_budget_left_takes_no_place_under_a_limit_from_those_who_have(house):
    poor = strict(house(**ONE_A_MINUTE, budget__calls_per_day="0"))
    for _ in range(2):
        with pytest.raises(BudgetReachedError):
            poor.ask("harold", ["priced"], REQUEST, str)
    rich = strict(house(**ONE_A_MINUTE))

    assert rich.ask("albert", ["priced"], REQUEST, str)[0].model == "priced"


def test_a_call_that_a_limit_stops_is_not_counted(house):
    world = house(**ONE_A_MINUTE, budget__calls_per_day="2")
    asking = strict(world)
    asking.ask("harold", ["priced"], REQUEST, str)
    for _ in range(3):
        with pytest.raises(ModelError, match="at its limits"):
            asking.ask("harold", ["priced"], REQUEST, str)
    costs = world.om.costs("harold")

    assert (costs.calls, costs.open, world.om.stats("harold").budget_reached) == (1, 0, "")


def test_a_call_that_fails_is_billed_as_failed(house):
    world = house(Paid(ModelError("away"), name="priced"))
    world.say(*[f"message {n}" for n in range(3)])
    world.tick_forgiving()
    (line,) = world.om.costs("harold").lines

    assert (line.calls, line.failed, line.cost) == (1, 1, 0)


def test_work_whose_budget_is_used_up_waits_and_burns_no_attempt(house):
    world = house(budget__calls_per_day="0")
    talk(world)
    chunks = world.services.run(scope_state.look(world.services.keys, Scope("harold"))).chunks

    assert world.model.requests == []
    assert chunks
    assert {chunk.attempts for chunk in chunks} == {0}
    assert len(world.context().messages) == 12


def test_the_refusal_is_the_error_of_the_unit_of_work_and_says_when_to_come_back(house):
    world = house(budget__calls_per_day="0")
    world.say(*[f"message {n}" for n in range(3)])
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    with pytest.raises(BudgetReachedError):
        world.work()
    waits = world.client.zscore(world.services.keys.due_observe, "harold") - 1_000 * world.client.time()[0]

    assert 200_000 < waits < 400_000


def test_work_goes_on_when_the_budget_is_raised(house):
    poor = house(budget__calls_per_day="1")
    talk(poor)
    rich = house(budget__calls_per_day="100")
    rich.om.force_observe("t-1", "harold")
    rich.settle()

    assert rich.om.observations("harold")
    assert len(poor.model.requests) == 1


def test_a_budget_may_have_the_extractive_model_go_on_for_nothing(house):
    world = house(budget__calls_per_day="1", budget__then="extractive")
    talk(world)
    world.settle()
    models = {observation.model for observation in world.om.observations("harold")}

    assert len(world.model.requests) == 1
    assert models == {"priced", "extractive"}
    assert world.om.costs("harold").calls == 1


def test_a_house_stops_at_the_call_that_crosses_its_budget_in_dollars(house):
    world = house(total_budget__dollars_per_day="0.003")
    for _ in range(6):
        talk(world)

    assert len(world.model.requests) == 3
    assert world.om.stats("harold").budget_reached == "total_budget.dollars_per_day"
