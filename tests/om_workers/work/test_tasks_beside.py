"""Work beside the memory: archives, samples, hooks, trials of models."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import ArchiveError
from om_api.store.archiving import archivable
from om_api.store.fleet import event_stream, model_trials, samples, spending
from om_api.store.fleet.samples import HOUR, TEN_MINUTES
from om_workers.llm.base import Reply, Usage
from om_workers.llm.scripted import Scripted
from om_workers.process.stopping import StoppedError
from om_workers.tasks import ticks, wiring
from om_workers.work.archiver import Archiver
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.model_trials import ModelTrier
from om_workers.work.rounds import Rounds
from om_workers.work.sampling import Sampler


@pytest.fixture
def house(client, prefix, tmp_path):
    made = World(
        client, prefix, archive__url=f"sqlite:///{tmp_path}/archive.db", archive__after="0s", archive__keep="1d"
    )
    yield made
    made.om.close()


def _old(house, resource="harold"):
    house.say("the anchor is up", "the anchor is down", resource=resource)
    house.om.force_observe("t-1", resource)
    house.settle()


def _sources(house):
    return list(house.client.scan_iter(f"{house.prefix}:*:source:*"))


def test_what_the_sweep_met_is_archived_and_found(house):
    _old(house), _old(house, "albert")
    house.sweep()

    def backlog():
        return house.services.run(archivable.backlog(house.services.keys)).due

    assert (Archiver(house.services).round(0).archived, backlog()) == (0, 2)  # no time
    assert (Archiver(house.services).round(10).archived, backlog()) == (2, 0)
    assert Archiver(house.services).round(10).archived == 0
    assert _sources(house) == []
    for resource in ("harold", "albert"):
        assert len(house.om.recall("anchor", resource).hits) == 2
    (counted,) = house.services.run(event_stream.counted(house.services.keys, [None]))
    assert counted["archived"] == 2


def test_an_archive_that_is_away_or_full_is_told_nothing_leaves_redis_and_a_full_one_is_tidied(house, monkeypatch):
    """Breaks when a round ends at what it cannot write: then expiry never makes room."""
    _old(house)
    house.sweep()
    past, tidied = type(house.services.connection._endpoint.past), []

    def full(*_):
        raise ArchiveError("the disk is full: make room")

    monkeypatch.setattr(past, "write", full)
    monkeypatch.setattr(past, "expired", lambda *_: tidied.append(1) or [])
    with monkeypatch.context() as away, pytest.raises(ArchiveError, match="make room"):
        away.setattr(past, "check", full)
        Archiver(house.services).round(10)
    with pytest.raises(ArchiveError, match="make room"):
        Archiver(house.services).round(10)
    assert tidied
    assert house.services.run(archivable.fault(house.services.keys)).why == "the disk is full: make room"
    assert len(_sources(house)) == 1
    monkeypatch.undo()
    house.client.zadd(house.services.keys.archivable, {"harold": 0})
    assert Archiver(house.services).round(10).archived == 1
    assert house.services.run(archivable.fault(house.services.keys)) is None


def test_a_thing_that_no_archive_can_take_stays_and_is_no_fault_of_the_archive(house):
    """A plain writer gave a message a score of infinity, which is no number of JSON's."""
    _old(house), _old(house, "albert")
    house.sweep()
    unfit = next(key for key in _sources(house) if b"albert" in key)
    house.client.zadd(unfit, {house.client.zrange(unfit, 0, 0)[0]: float("inf")})
    assert Archiver(house.services).round(10).archived == 1
    house.client.zadd(house.services.keys.archivable, {"albert": 0})
    assert Archiver(house.services).round(10).archived == 0
    assert _sources(house) == [unfit]
    assert house.services.run(archivable.fault(house.services.keys)) is None


def test_a_memory_that_cannot_be_read_keeps_no_other_from_the_archive(house):
    _old(house), _old(house, "albert")
    house.sweep()
    broken = f"{house.prefix}:{{albert}}:threads"
    house.client.unlink(broken)
    house.client.set(broken, "ours it is not", ex=60)
    done = Archiver(house.services).round(10)
    assert (done.archived, done.failed) == (1, 1)
    assert house.services.run(archivable.backlog(house.services.keys)).due == 0


@pytest.fixture
def world(client, prefix):
    made = World(client, prefix, message_threshold="300")
    for n in range(8):
        made.say(f"message {n}", resource="harold")
        made.tick()
    made.say("hello", resource="ada")
    made.context(resource="harold")
    made.om.tell()
    made.settle()
    made.sweep()
    return made


def taken(world, resource=None, step=TEN_MINUTES):
    (found,) = world.services.run(samples.between(world.services.keys, step, resource, 0))
    return found.sample


def test_a_sample_holds_the_tiers_that_stats_tell_and_their_sums(world):
    assert Sampler(world.services).sample() is True
    harold, stats, every = taken(world, "harold"), world.om.stats("harold"), taken(world)
    assert (harold.messages, harold.chunks, harold.observations, harold.observed) == (
        *(stats.message_tokens, stats.chunk_tokens), *(stats.observation_tokens, stats.observed_tokens))  # fmt: skip
    assert harold.observations > 0
    assert harold.contexts == every.contexts == 1
    assert (every.agents, every.measured, every.messages) == (2, 2, stats.message_tokens + taken(world, "ada").messages)
    assert taken(world, step=HOUR) == every


def test_it_is_taken_once_and_says_of_how_many_agents_the_tiers_are(client, prefix):
    world = World(client, prefix, metrics__resources="1")
    for name in ("harold", "ada", "berta"):
        world.say("hello", resource=name)
    world.settle()
    world.sweep()
    assert [Sampler(world.services).sample() for _ in range(3)] == [True, False, False]
    assert (taken(world).agents, taken(world).measured) == (3, 1)


SECRET = "sk-cinnamon-0123456789"
READY = Reply(text=" ready\n", model="notes", usage=Usage(input=48, cached=16, output=2))
MODELS = {"observer_model": "notes", "models__notes__provider": "scripted",
          "models__notes__prices": "{input: 1, cached: 0.5, output: 4}", "models__notes__limits": "{concurrency: 1}",
          "models__keyed__provider": "openai", "models__keyed__api_key_env": "KEYED_KEY",
          "models__sized__tiers": "[{up_to: 1000, model: notes}]"}  # fmt: skip


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
