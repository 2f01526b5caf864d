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
    assert found["recall"]["around"]["of"] == 4
    assert all(budget["recalled"]["all"]["of"] == 4 for budget in found["budgets"])
    assert found["online"] == []


def test_every_format_goes_through_the_pipeline():
    found = memory(LOCOMO, TALKS / "longmemeval.json", TALKS / "beam" / "chat.json")

    assert found.exit_code == 0
    assert "4 conversations, 7 questions" in found.output
    assert "| prefix share | 100.0 % |" in found.output


def test_the_tables_tell_whose_words_are_kept_and_what_a_budget_is_used_for():
    lines = memory("--offline", "--budget=0.5", TALKS / "own.json").output

    assert "| S by whose words | notes: assistant | notes: tool |" in lines
    assert "| notes at | budget used | pairs kept | across joints | longest line | explicit dates |" in lines
    assert "| among the first 5 hits | 100.0 |" in lines
    assert "S by whose words" not in memory("--offline", "--budget=0.5", LOCOMO).output


def test_another_block_of_a_page_is_written_where_it_is_named(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- memory -->\n<!-- /memory -->\n<!-- own -->\n<!-- /own -->\n")
    done = memory("--budget=0.5", "--write", page, "--block", "own", TALKS / "own.json")

    assert done.exit_code == 0
    assert page.read_text().startswith("<!-- memory -->\n<!-- /memory -->\n<!-- own -->\n1 conversations, 2 questions")


def test_questions_without_evidence_are_nothing_to_measure(tmp_path):
    file = tmp_path / "empty.json"
    file.write_text(json.dumps([{**json.loads(LOCOMO.read_text())[0], "qa": []}]))

    assert "there is nothing to measure" in memory(file).output
