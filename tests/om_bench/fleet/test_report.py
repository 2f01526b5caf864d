"""The report says all that was found, marks what is far off, and names what is full first."""

import msgspec
import pytest

from om_bench.fleet import report, unit_costs
from om_bench.fleet.load import Ground, Load
from om_bench.fleet.report import as_lines


@pytest.fixture(scope="module")
def found():
    return report.measure(unit_costs.read(), Load(), Ground(), [1_000_000, 5_000_000])


def test_each_measured_point_and_unit_cost_has_its_row(found):
    said = "\n".join(as_lines(found))

    assert [
        each.what for each in (*found.compared, *found.costs.units.values()) if f"| {each.what} |" not in said
    ] == []


def test_what_is_off_by_more_than_fifteen_percent_is_marked(found):
    compared = [
        msgspec.structs.replace(found.compared[0], what=what, off=off) for what, off in (("far", -0.2), ("near", 0.1))
    ]
    told = as_lines(msgspec.structs.replace(found, compared=compared))
    said = [line for line in told if line.startswith(("| far", "| near"))]

    assert [line.split(" | ")[4] for line in said] == ["**-20%**", "+10%"]


def test_what_is_full_first_is_named_and_what_of_it_is_ours(found):
    said = next(line for line in as_lines(found) if "comes first" in line)
    ours = next(each.what for each in found.limits[0] if not each.what.startswith("model:"))

    assert f"*{found.limits[0][0].what}* comes first" in said
    assert f"*{ours}*" in said


def test_each_number_of_agents_has_its_column_and_its_row(found):
    said = "\n".join(as_lines(found))

    assert said.count("| 1,000,000 agents | 5,000,000 agents |") == 3
    assert "\n| 5,000,000 | " in said
