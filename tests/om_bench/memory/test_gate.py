"""What a memory keeps of talks that nothing was tuned to does not fall below what was recorded (`make gate WRITE=1`)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from om_api.domain.errors import InvalidInputError
from om_bench.__main__ import bench
from om_bench.harness.loading import load
from om_bench.memory.gate import MOST_USED, MOST_WORDS, TOLERANCE, fallen, measure, read

FOLDER = Path(__file__).parents[2] / "data" / "talks"
GATE = sorted((FOLDER / "gate").glob("*.json"))


def test_no_figure_of_the_committed_talks_has_fallen():
    found = measure([talk for file in GATE for talk in load(file)])

    assert fallen(read(FOLDER / "recorded.json"), found) == []


def test_a_figure_may_rise_and_fall_by_the_tolerance_and_no_more():
    recorded = {"S": 50.0, "pairs kept": 90.0}

    assert fallen(recorded, {"S": 50.0 - TOLERANCE, "pairs kept": 99.0}) == []
    assert fallen(recorded, {"S": 49.9 - TOLERANCE, "pairs kept": 90.0}) == ["S"]


def test_a_figure_that_is_missing_on_a_side_does_not_hold():
    assert fallen({"S": 50.0}, {}) == ["S"]
    assert fallen({}, {"S": 50.0}) == ["S"]


@pytest.mark.parametrize(
    ("name", "most"), [("budget used at 5%", MOST_USED), ("words of the longest line at 5%", MOST_WORDS)]
)
def test_notes_cannot_rise_by_taking_more_tokens_or_by_standing_in_one_line(name, most):
    assert fallen({name: most}, {name: most}) == []
    assert fallen({name: most}, {name: most + 0.1}) == [name]


def test_shorter_lines_are_no_fall():
    assert fallen({"words of the longest line at 5%": 90}, {"words of the longest line at 5%": 40}) == []


def gate(*words):
    return CliRunner().invoke(bench, ["gate", *map(str, words)])


def test_what_was_recorded_holds_and_what_has_fallen_since_is_named(tmp_path):
    file = tmp_path / "recorded.json"
    recorded = gate("--record", file, GATE[0])
    figures = json.loads(file.read_text())
    file.write_text(json.dumps(figures | {"evidence among 5 hits": 200.0}))
    fell = gate(file, GATE[0])

    assert recorded.exit_code == 0
    assert len(figures) == 19
    assert fell.exit_code == 1
    assert f"| evidence among 5 hits | 200.0 | {figures['evidence among 5 hits']} | **no** |" in fell.output
    assert fell.output.count("**no**") == 1


@pytest.mark.parametrize("text", ["{", "[]", '{"S": "high"}'])
def test_a_file_without_figures_is_named(tmp_path, text):
    file = tmp_path / "recorded.json"
    file.write_text(text)

    with pytest.raises(InvalidInputError, match=r"recorded\.json: .*om bench gate --record"):
        read(file)
