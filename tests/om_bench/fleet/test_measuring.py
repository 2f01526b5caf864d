"""Single things are measured on a real store, a few times each."""

import pytest
import redis

from om_api.cli.embedded import Embedded
from om_bench.fleet import measuring
from om_bench.harness.pipeline import pipeline
from om_bench.speed.draining import Drain, Drained, DrainPlan
from om_bench.speed.stand import Stand


@pytest.fixture
def stand():
    with Embedded() as store, pipeline(store.url) as running, redis.Redis.from_url(store.url) as bare:
        yield Stand(store.url, running, bare)


def test_what_agents_say_is_as_long_as_the_figures_say_and_never_the_same():
    said = [measuring.said("harold", n).content for n in range(50)]

    assert {len(text) for text in said} == {300}
    assert len(set(said)) == 50


def test_what_is_measured_of_agents_has_a_cost(stand, monkeypatch):
    monkeypatch.setattr(measuring, "_PUSHES", 100)
    monkeypatch.setattr(measuring, "_READS", 20)
    found = dict(measuring._of_agents(stand))

    assert set(found) == {"push_client_us", "push_store_us", "context_client_us", "context_store_us"}
    assert all(10 < each.value < 100_000 for each in found.values())


def test_a_part_of_the_commands_of_an_observation_names_the_events(stand):
    share = measuring._events(stand)

    assert 0.01 < share < 0.2


def test_an_observation_costs_what_the_middle_fleet_took():
    fleets = [
        Drained(
            workers=n, observed=128, seconds=32.0, queue=3, worker_ms=20.0 * n, store_ms=3.0, broker_ms=0.7, model_ms=0.8,
            resident=n * 10**8, cores=1.5,
        )
        for n in (1, 2, 4)
    ]  # fmt: skip
    plan = DrainPlan(agents=9_000, workers=(1, 2, 4), concurrency=16, seconds=4.0)
    found = dict(measuring._of_observations(Drain(plan=plan, fleets=fleets)))

    assert (found["worker_ms"].value, found["worker_mb"].value) == (40.0, 200)
