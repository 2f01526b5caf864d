import json

from benches import LOCOMO, TALKS, memory


def test_two_runs_write_the_same_bytes():
    assert memory("--json", LOCOMO).output == memory("--json", LOCOMO).output


def test_the_report_calibrates_its_scorer_and_compares_every_budget():
    found = json.loads(memory("--json", "--offline", "--budget=0.3", "--budget=0.9", LOCOMO).output)

    assert found["calibration"]["full"] == {"of": 4, "did": 4}
    assert found["calibration"]["wrong"]["did"] == 0
    assert [budget["share"] for budget in found["budgets"]] == [0.3, 0.9]
    assert all(budget["tokens"]["did"] <= budget["tokens"]["of"] for budget in found["budgets"])
    assert found["online"] == []


def test_every_format_goes_through_the_pipeline():
    found = memory(LOCOMO, TALKS / "longmemeval.json", TALKS / "beam" / "chat.json")

    assert found.exit_code == 0
    assert "4 conversations, 7 questions" in found.output
    assert "| prefix share | 100.0 % |" in found.output


def test_questions_without_evidence_are_nothing_to_measure(tmp_path):
    file = tmp_path / "empty.json"
    file.write_text(json.dumps([{**json.loads(LOCOMO.read_text())[0], "qa": []}]))

    assert "there is nothing to measure" in memory(file).output
