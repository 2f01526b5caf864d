"""What is measured of fleets becomes points for the simulation; what an agent weighs is measured on a real store."""

from om_bench.fleet import points
from om_bench.fleet.weights import memory_bytes
from om_bench.speed.draining import Drain, Drained, DrainPlan

FLEET = Drained(
    workers=2, observed=256, seconds=32.0, queue=3, worker_ms=20.0, store_ms=3.0, broker_ms=0.7, model_ms=0.8,
    resident=10**8, cores=1.5,
)  # fmt: skip


def test_a_drained_backlog_is_a_point_by_its_rate():
    plan = DrainPlan(agents=9_000, workers=(2,), concurrency=16, seconds=4.0)
    (point,) = points._drained(Drain(plan=plan, fleets=[FLEET]))

    assert (point.kind, point.value) == ("drain", 8.0)
    assert point.setup == {"workers": 2, "threads": 16, "seconds": 4.0, "cores": 1.5}


def test_an_agent_weighs_what_the_weights_say(monkeypatch):
    monkeypatch.setattr(points, "_AGENTS", 3)
    point = points._weight()
    simulated = memory_bytes(**point.setup) / 3

    assert point.setup["raw"] + point.setup["behind"] == 3 * points._SAID
    assert 0.75 < simulated / point.value < 1.25
