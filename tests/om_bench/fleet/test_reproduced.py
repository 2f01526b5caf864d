"""What is simulated of a measured point is what its unit costs come to."""

import msgspec
import pytest

from om_bench.fleet import unit_costs
from om_bench.fleet.reproduced import SIMULATED, Reproduced, measured_fleet, reproduced
from om_bench.fleet.unit_costs import MeasuredPoint, UnitCost

COSTS = unit_costs.read()


def costing(**values):
    """The kept unit costs, some of them others."""
    units = {
        name: UnitCost(value=value, unit="", what=name, by="om bench fleet --measure") for name, value in values.items()
    }
    return msgspec.structs.replace(COSTS, units={**COSTS.units, **units})


def test_pushes_are_bounded_by_the_store_when_there_are_clients_and_cores_enough():
    costs = costing(push_client_us=1_000, push_store_us=250)

    assert SIMULATED["push"](costs, {"clients": 1, "cores": 16}) == pytest.approx(800, rel=0.01)
    assert SIMULATED["push"](costs, {"clients": 2, "cores": 16}) == pytest.approx(1_600, rel=0.01)
    assert SIMULATED["push"](costs, {"clients": 12, "cores": 16}) == pytest.approx(4_000, rel=0.01)


def test_pushes_are_bounded_by_the_cores_that_clients_and_store_share():
    costs = costing(push_client_us=1_000, push_store_us=250)

    assert SIMULATED["push"](costs, {"clients": 8, "cores": 2}) == pytest.approx(2 / 0.00125, rel=0.02)


def test_where_others_took_half_of_the_machine_half_is_done():
    costs = costing(push_client_us=1_000, push_store_us=250)

    assert SIMULATED["push"](costs, {"clients": 8, "cores": 1.0}) == pytest.approx(1 / 0.00125, rel=0.02)
    assert SIMULATED["push"](costs, {"clients": 8, "cores": 1.5}) == pytest.approx(1.5 / 0.00125, rel=0.02)


def test_a_fleet_that_needs_no_processor_drains_as_fast_as_its_model_answers():
    costs = costing(worker_ms=0, store_ms=0, broker_ms=0, model_ms=0)

    assert SIMULATED["drain"](costs, {"workers": 2, "threads": 8, "seconds": 4.0, "cores": 2}) == pytest.approx(4.0)


def test_off_is_told_of_what_was_measured():
    point = MeasuredPoint(kind="push", what="pushes", value=200.0, unit="a second", by="om bench fleet --measure")

    assert Reproduced(point, 230.0).off == pytest.approx(0.15)


def test_every_point_is_simulated_on_what_was_left_of_the_machine():
    assert [each.point for each in reproduced(COSTS)] == COSTS.points
    left = measured_fleet(costing(worker_ms=30), {"workers": 1, "threads": 4, "seconds": 1.0, "cores": 1.5})
    assert (left.cores, left.worker_s) == (2, pytest.approx(0.04))
