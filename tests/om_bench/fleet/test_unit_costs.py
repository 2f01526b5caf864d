"""The file of unit costs is whole, says where each comes from, and can be written and read again."""

import msgspec
import pytest
from pages import ROOT

from om_bench.__main__ import bench
from om_bench.fleet import unit_costs
from om_bench.fleet.reproduced import SIMULATED
from om_bench.fleet.unit_costs import UnitCosts

COSTS = unit_costs.read()


@pytest.mark.parametrize("cost", [*COSTS.units.values(), *COSTS.points], ids=lambda each: each.what)
def test_each_says_what_measures_it(cost):
    words = cost.by.split()

    assert cost.value > 0
    assert (words[:2] == ["om", "bench"] and words[2] in bench.commands) or (ROOT / cost.by).is_file()


def test_every_point_can_be_simulated_and_every_simulation_has_a_point():
    assert {point.kind for point in COSTS.points} == set(SIMULATED)


def test_a_cost_in_seconds_goes_by_the_unit_of_its_name():
    assert COSTS.seconds("worker_ms") == COSTS["worker_ms"] / 1e3
    assert COSTS.seconds("push_store_us") == COSTS["push_store_us"] / 1e6


def test_what_was_measured_is_kept_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(unit_costs, "__file__", str(tmp_path / "unit_costs.py"))
    unit_costs.write(COSTS)

    assert msgspec.yaml.decode((tmp_path / unit_costs.FILE).read_bytes(), type=UnitCosts) == COSTS
