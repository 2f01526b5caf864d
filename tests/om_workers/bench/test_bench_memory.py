from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from om_workers.bench.__main__ import bench as commands

DATA = Path(__file__).parents[2] / "data" / "bench"
LOCOMO = DATA / "locomo.json"


def bench(*words):
    return CliRunner().invoke(commands, ["memory", *map(str, words)])


def test_two_runs_write_the_same_bytes():
    assert bench("--json", LOCOMO).output == bench("--json", LOCOMO).output


def test_the_report_calibrates_its_scorer_and_compares_every_budget():
    found = json.loads(bench("--json", "--offline", "--budget=0.3", "--budget=0.9", LOCOMO).output)

    assert found["calibration"]["full"] == {"of": 4, "did": 4}
    assert found["calibration"]["wrong"]["did"] == 0
    assert [budget["share"] for budget in found["budgets"]] == [0.3, 0.9]
    assert all(budget["tokens"]["did"] <= budget["tokens"]["of"] for budget in found["budgets"])
    assert found["online"] == []


def test_the_pipeline_runs_as_it_is_set():
    found = json.loads(
        bench("--json", "--set", "message_threshold=2000", "--set", "reflection.drain=false", LOCOMO).output
    )

    assert [run["settings"] for run in found["online"]] == [["message_threshold=2000", "reflection.drain=false"]]


def test_a_setting_that_does_not_exist_is_named():
    assert "OM_MESSAGE_TRESHOLD" in bench("--set", "message_treshold=2000", LOCOMO).output


@pytest.mark.parametrize("setting", ["buffer_tokens", "=4", "buffer_tokens="])
def test_what_is_no_setting_is_refused(setting):
    found = bench("--set", setting, LOCOMO)

    assert (found.exit_code, "is not NAME=VALUE" in found.output) == (2, True)


def test_every_format_goes_through_the_pipeline():
    found = bench(LOCOMO, DATA / "longmemeval.json", DATA / "beam" / "chat.json")

    assert found.exit_code == 0
    assert "4 conversations, 7 questions" in found.output
    assert "| prefix share | 100.0 % |" in found.output


def test_the_block_of_a_page_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Before\n<!-- memory -->\nold\n<!-- /memory -->\nafter\n")

    assert bench(f"--write={page}", LOCOMO).exit_code == 0
    assert page.read_text().startswith("# Before\n<!-- memory -->\n2 conversations, 4 questions")
    assert page.read_text().endswith("\n<!-- /memory -->\nafter\n")
    assert "\nold\n" not in page.read_text()


def test_a_page_without_the_block_is_refused_by_name(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n")

    found = bench(f"--write={page}", LOCOMO)

    assert found.exit_code == 2
    assert "page.md has no block for this" in found.output


def test_questions_without_evidence_are_nothing_to_measure(tmp_path):
    file = tmp_path / "empty.json"
    file.write_text(json.dumps([{**json.loads(LOCOMO.read_text())[0], "qa": []}]))

    assert "there is nothing to measure" in bench(file).output
