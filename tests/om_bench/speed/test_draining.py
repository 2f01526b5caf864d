"""What is read from fleets that worked on one backlog."""

from om_bench.speed.draining import Drain, Drained, DrainPlan, as_lines

PLAN = DrainPlan(agents=9_000, workers=(1, 2), concurrency=16, seconds=4.0)


def drained(workers, seconds):
    return Drained(
        workers=workers, observed=128 * workers, seconds=seconds, queue=9, worker_ms=20.0, store_ms=3.0, broker_ms=0.7,
        model_ms=0.8, resident=10**8, cores=1.5,
    )  # fmt: skip


def test_a_fleet_is_held_against_work_times_the_models_time_over_its_threads():
    found = Drain(plan=PLAN, fleets=[drained(1, 33.0), drained(2, 40.0)])
    rows = [line.split(" | ") for line in as_lines(found) if line.startswith(("| 1 ", "| 2 "))]

    assert [found.alone(each) for each in found.fleets] == [32.0, 32.0]
    assert [row[4:6] for row in rows] == [["1.03", "yes"], ["1.25", "**no**"]]


def test_the_queue_stands_beside_its_bound():
    found = Drain(plan=PLAN, fleets=[drained(2, 33.0)])

    assert any("| 9 (64) |" in line for line in as_lines(found))
    assert "fleets of 1 and 2 worker processes" in next(as_lines(found))
