"""A test call is a call like any other, of that one model, and whoever asked is told how it ended: never more than that."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import ModelError
from om_api.store.fleet import breaker, model_trials, spending
from om_workers.llm.base import Reply, Usage
from om_workers.llm.scripted import Scripted
from om_workers.process.stopping import StoppedError
from om_workers.tasks import ticks, wiring
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.model_trials import ModelTrier
from om_workers.work.rounds import Rounds

SECRET = "sk-cinnamon-0123456789"
READY = Reply(text=" ready\n", model="notes", usage=Usage(input=48, cached=16, output=2))
MODELS = {
    "observer_model": "notes",
    "models__notes__provider": "scripted",
    "models__notes__prices": "{input: 1, cached: 0.5, output: 4}",
    "models__notes__limits": "{concurrency: 1}",
    "models__keyed__provider": "openai",
    "models__keyed__api_key_env": "KEYED_KEY",
    "models__sized__tiers": "[{up_to: 1000, model: notes}]",
}


class Trials:
    """A worker with breakers, limits and a ledger, whose model says what a test tells it to."""

    def __init__(self, client, prefix, **changed):
        self.world = World(client, prefix, **{**MODELS, **changed})
        self.services = self.world.services = self.world.new_services(guarded=True)
        self.run, self.keys = self.services.run, self.services.keys

    def answer(self, *replies):
        self.model = Scripted(*replies, name="notes")
        self.services.registry.itself = lambda _: self.model

    def make(self):
        return ModelTrier(self.services).make_next()

    def tried(self, model="notes"):
        asked = self.world.om.try_model(model, 0)
        self.make()
        return self.world.om.model_trial(model, asked.asked_at)

    def spent(self, resource=None):
        day = spending.day_of(int(self.world.client.time()[0]) * 1000)
        (found,) = self.run(spending.read(self.keys, [day], resource))
        return found


@pytest.fixture
def trials(client, prefix):
    return Trials(client, prefix)


def test_a_model_that_answers_is_told_with_its_time_its_tokens_and_its_dollars(trials):
    trials.answer(READY)
    found = trials.tried()

    assert (found.outcome, found.text, found.error) == ("answered", "ready", "")
    assert (found.input, found.cached, found.output, found.cost) == (48, 16, 2, 0.000048)
    assert found.seconds >= 0
    assert [request.purpose for request in trials.model.requests] == ["try"]
    assert trials.make() == "busy"  # it was made


def test_it_is_billed_to_all_and_to_no_agent(trials):
    trials.answer(READY)
    trials.tried()
    spent = trials.spent()

    assert (spent["notes|try|calls"], spent["notes|try|micros"], spent["all|calls"]) == (1, 48, 1)
    assert not any(
        key.decode().endswith(":") for key in trials.world.client.scan_iter(f"{trials.world.prefix}:spent:*")
    )
    (line,) = trials.world.om.costs().lines
    assert (line.model, line.purpose, line.cost) == ("notes", "try", 0.000048)
    assert trials.world.om.costs_by_agent(1).agents == ()


def test_the_budget_of_all_bounds_it_and_says_what_to_do(client, prefix):
    trials = Trials(client, prefix, total_budget__calls_per_day="1")
    trials.answer(READY, READY)
    found = [trials.tried(), trials.tried()]

    assert [each.outcome for each in found] == ["answered", "failed"]
    assert "total_budget.calls_per_day" in found[1].error
    assert len(trials.model.requests) == 1


def test_a_model_that_does_not_answer_is_asked_once_and_nobody_steps_in(trials):
    trials.answer(ModelError("notes refused (401): its key is wrong"), READY)
    found = trials.tried()

    assert (found.outcome, found.error) == ("failed", "notes refused (401): its key is wrong")
    assert len(trials.model.requests) == 1
    assert trials.spent()["notes|try|failed"] == 1


def test_it_passes_no_breaker_by_and_its_breaker_hears_how_it_ended(trials):
    """Catches a test call of its own way: a provider that is down would be asked all the same."""
    trials.answer(*[ModelError("503")] * 20)
    found = [trials.tried() for _ in range(10)]

    assert "passed over: it failed again and again" in found[-1].error
    assert len(trials.model.requests) < 10
    assert trials.run(breaker.states(trials.keys, ["notes"]))["notes"].word == "open"


def test_a_model_that_cannot_be_used_says_why_and_shows_no_key(trials, monkeypatch):
    monkeypatch.delenv("KEYED_KEY", raising=False)

    assert "KEYED_KEY holds no key; set it" in trials.tried("keyed").error
    assert "try its tiers, notes" in trials.tried("sized").error


def test_what_breaks_on_our_side_is_told_without_its_words(trials):
    trials.answer(RuntimeError(SECRET))
    with capture_logs() as logs:
        found = trials.tried()

    assert (found.outcome, "model_trial_broke" in found.error) == ("failed", True)
    assert SECRET not in found.error
    assert [each["event"] for each in logs] == ["model_trial_broke"]


def test_what_is_kept_of_a_long_answer_is_its_beginning(trials):
    trials.answer(Reply(text="word " * 10_000, model="notes"))

    assert len(trials.tried().text) == 200


def test_a_worker_that_stops_leaves_it_to_another_one(trials):
    trials.answer(READY)
    asked = trials.world.om.try_model("notes", 0)
    trials.services.stopping.ask(0)
    with pytest.raises(StoppedError):
        trials.make()

    assert trials.run(model_trials.take(trials.keys)) == asked


def test_a_tick_passes_on_what_waits_and_a_task_makes_it(trials, monkeypatch):
    trials.answer(READY)
    asked = trials.world.om.try_model("notes", 0)
    rounds = Rounds(trials.services, Dispatcher(trials.services), lambda _: 0)
    monkeypatch.setattr(wiring, "services", lambda: trials.services)

    assert rounds.observe().did["tried"] == 1
    assert [verb for verb, _ in trials.world.dispatch.queue] == ["try_model"]
    assert [ticks.try_model(), ticks.try_model()] == ["rest", "busy"]  # a task that came twice makes it once
    assert trials.world.om.model_trial("notes", asked.asked_at).outcome == "answered"
