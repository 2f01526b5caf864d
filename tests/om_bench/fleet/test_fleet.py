"""How a fleet is simulated, sized and weighed."""

import pytest
from pages import ROOT

from om_api.settings import MemorySettings
from om_bench.fleet import sizing, weights
from om_bench.fleet.load import Load
from om_bench.fleet.simulation import Duration, Fleet, arrivals, backlog, simulate
from om_bench.fleet.turns import DueTask
from om_workers.work import dispatcher, sweep

LOADED = Fleet(
    workers=3, threads=4, worker_s=0.02, store_s=0.004, broker_s=0.001, limit_s=0.001, beside_s=0.001, cores=2
)


def test_a_backlog_is_worked_off_in_its_work_times_the_models_time_over_the_places():
    for workers, threads in [(1, 16), (4, 8)]:
        played = simulate(Fleet(workers=workers, threads=threads), backlog(640, Duration(4.0)))

        assert played.seconds - 10 == pytest.approx(640 * 4.0 / (workers * threads), abs=10), (
            workers,
            threads,
        )  # the last tick finds nothing
        assert max(played.ended) == pytest.approx(640 * 4.0 / (workers * threads)), (workers, threads)


def test_waits_before_one_server_are_those_of_pollaczek_and_khinchine():
    """M/G/1: rho (1 + spread^2) / (2 (1 - rho)) of a service time, which is a second here."""
    for rate, spread in [(0.8, 0.0), (0.7, 0.5)]:
        played = simulate(
            Fleet(workers=1, threads=1), arrivals(rate, 20_000, Duration(1.0, spread), seed=7), ticks=False
        )
        waits = [wait for _, wait in played.waits]

        assert sum(waits) / len(waits) == pytest.approx(rate * (1 + spread**2) / (2 * (1 - rate)), rel=0.08), (
            rate,
            spread,
        )
        assert played.busy["threads"] == pytest.approx(rate, rel=0.03), (rate, spread)


def test_no_task_is_lost_or_begun_twice():
    """Every task is at the end either done or still due, waiting or at work."""
    for until in [0.5, 3.0, 11.0, float("inf")]:
        tasks = [DueTask(f"agent-{n}", n * 0.01, 0.3) for n in range(500)]
        played = simulate(LOADED, tasks, until)
        come = sum(task.due_s <= until for task in tasks)

        assert len(played.ended) + played.left == come, until
        assert len({name for name, _ in played.waits}) == len(played.waits), until
        assert (played.left == 0) == (until == float("inf")), until


def test_the_numbers_of_the_code_are_those_of_the_code():
    load, settings = Load(), MemorySettings()

    assert sizing._SWEPT == sweep._RESOURCES / 60
    assert dispatcher._SHARES["observe"] == 1.0  # as many wait as run at a time: what `simulate` goes by
    assert (load.threshold, load.notes) == (settings.message_threshold, settings.observation_threshold)
    assert load.days == settings.ttl_days


PAGE = (ROOT / "docs/operations.md").read_text()


def test_the_weights_are_those_that_the_operations_guide_says():
    said = {
        "a raw message of 300 characters": weights.RAW,
        "its id, as long as anything of it is kept": weights.KNOWN,
        "the same message behind an observation, until `ttl_days` are over": weights.BEHIND,
        "an agent with one message": weights.AGENT,
        "a scope in a due index": weights.DUE,
    }

    assert [what for what, size in said.items() if f"| {what} | {size:,} B |" not in PAGE] == []
