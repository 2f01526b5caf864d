"""The simulation comes to what can be worked out by hand, loses nothing, and comes to it again."""

import pytest

from om_bench.fleet.simulation import Duration, Fleet, arrivals, backlog, simulate
from om_bench.fleet.turns import DueTask

LOADED = Fleet(
    workers=3, threads=4, worker_s=0.02, store_s=0.004, broker_s=0.001, limit_s=0.001, beside_s=0.001, cores=2
)


@pytest.mark.parametrize(("workers", "threads"), [(1, 16), (2, 16), (4, 8)])
def test_a_backlog_is_worked_off_in_its_work_times_the_models_time_over_the_places(workers, threads):
    played = simulate(Fleet(workers=workers, threads=threads), backlog(640, Duration(4.0)))

    assert played.seconds - 10 == pytest.approx(640 * 4.0 / (workers * threads), abs=10)  # the last tick finds nothing
    assert max(played.ended) == pytest.approx(640 * 4.0 / (workers * threads))


def test_where_the_processor_is_too_slow_it_takes_what_the_processor_takes():
    """A second of it each for a hundred observations: 64 threads make it no faster, two processes do, two on one core do not."""
    one, two, shared = (
        max(simulate(Fleet(workers=workers, threads=64, worker_s=1.0, cores=cores), backlog(100, Duration(0.1))).ended)
        for workers, cores in ((1, None), (2, None), (2, 1))
    )

    assert one == pytest.approx(100, rel=0.02)
    assert two == pytest.approx(50, rel=0.03)
    assert shared == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize(("rate", "spread"), [(0.5, 0.0), (0.8, 0.0), (0.7, 0.5)])
def test_waits_before_one_server_are_those_of_pollaczek_and_khinchine(rate, spread):
    """M/G/1: rho (1 + spread^2) / (2 (1 - rho)) of a service time, which is a second here."""
    played = simulate(Fleet(workers=1, threads=1), arrivals(rate, 60_000, Duration(1.0, spread), seed=7), ticks=False)
    waits = [wait for _, wait in played.waits]

    assert sum(waits) / len(waits) == pytest.approx(rate * (1 + spread**2) / (2 * (1 - rate)), rel=0.08)
    assert played.busy["threads"] == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize("until", [0.5, 3.0, 11.0, float("inf")])
def test_no_task_is_lost_or_begun_twice(until):
    """Every task is at the end either done or still due, waiting or at work."""
    tasks = [DueTask(f"agent-{n}", n * 0.01, 0.3) for n in range(500)]
    played = simulate(LOADED, tasks, until)
    come = sum(task.due_s <= until for task in tasks)

    assert len(played.ended) + played.left == come
    assert len({name for name, _ in played.waits}) == len(played.waits)
    assert (played.left == 0) == (until == float("inf"))


def test_never_more_tasks_wait_than_the_fleet_runs_at_a_time():
    assert simulate(LOADED, backlog(2_000, Duration(0.3))).queue == LOADED.places == 12


def test_the_same_seed_comes_to_the_same_and_another_to_something_else():
    def played(seed):
        return simulate(LOADED, arrivals(5.0, 60, Duration(0.5, 0.5), seed))

    assert played(3) == played(3)
    assert played(3) != played(4)


def test_a_limit_of_calls_a_minute_holds_and_is_used():
    fleet = Fleet(workers=1, threads=64, calls_per_minute=120)
    ended = simulate(fleet, backlog(600, Duration(1.0))).ended

    assert max(sum(start <= at < start + 60 for at in ended) for start in range(240)) <= 121
    assert max(ended) == pytest.approx(600 / 2, rel=0.02)


def test_what_comes_due_is_begun_by_the_next_tick_where_nobody_is_at_work():
    played = simulate(Fleet(workers=1, threads=8, tick_s=10), [DueTask("harold", 3.0, 1.0)])

    assert played.waits == [("harold", 7.0)]


def test_a_duration_has_the_mean_and_the_spread_that_were_said():
    drawn = [task.model_s for task in backlog(20_000, Duration(6.0, 0.5))]
    mean = sum(drawn) / len(drawn)

    assert mean == pytest.approx(6.0, rel=0.02)
    assert (sum((each - mean) ** 2 for each in drawn) / len(drawn)) ** 0.5 / mean == pytest.approx(0.5, rel=0.05)
