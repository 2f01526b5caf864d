"""What a memory keeps of talks that nothing was tuned to does not fall below what was recorded (`make gate WRITE=1`)."""

from pathlib import Path

import pytest

from om_bench.harness.loading import load
from om_bench.memory.gate import TOLERANCE, fallen, measure, read

FOLDER = Path(__file__).parents[2] / "data" / "talks"
GATE = sorted((FOLDER / "gate").glob("*.json"))


@pytest.mark.nightly
def test_no_figure_of_the_committed_talks_has_fallen():
    found = measure([talk for file in GATE for talk in load(file)])

    assert fallen(read(FOLDER / "recorded.json"), found) == []


def test_a_figure_may_rise_and_fall_by_the_tolerance_and_no_more():
    recorded = {"S": 50.0, "pairs kept": 90.0}

    assert fallen(recorded, {"S": 50.0 - TOLERANCE, "pairs kept": 99.0}) == []
    assert fallen(recorded, {"S": 49.9 - TOLERANCE, "pairs kept": 90.0}) == ["S"]
