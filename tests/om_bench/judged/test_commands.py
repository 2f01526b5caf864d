import json

import pytest
from click.testing import CliRunner
from model_server import Behaviour
from reading_model import ReadingModel, configured

from om_bench.__main__ import bench
from om_bench.judged.commands import SAMPLES
from om_bench.judged.journal import FILE

RULES = ("--model", "scripted", "--judge", "scripted")


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path, server_url):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OM_REDIS_URL", server_url)
    for name in ("OM_CONFIG_DIR", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fake(monkeypatch, tmp_path):
    def served(server):
        monkeypatch.setenv("OM_CONFIG_DIR", str(configured(tmp_path / "config", server.url)))

    return served


def om(*words):
    return CliRunner().invoke(bench, [*map(str, words)])


@pytest.mark.parametrize(("protocol", "of"), [("longmemeval", 10), ("locomo", 9), ("beam", 11)])
def test_every_protocol_runs_from_a_file_to_a_score_without_a_model(protocol, of):
    done = om(protocol, *RULES, "--json")

    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["protocol"] == protocol
    assert found["whole"]["of"] == of
    assert 0 < found["whole"]["score"] < 100
    assert "| if it were | notes | answers | judgements | altogether, dollars |" in done.stderr
    assert "| gemini-2.5-flash | $" in done.stderr


@pytest.mark.parametrize("protocol", ["longmemeval", "locomo", "beam"])
def test_the_help_of_a_protocol_has_room_in_80_columns(protocol):
    told = CliRunner().invoke(bench, [protocol, "--help"], terminal_width=80).stdout

    assert [line for line in told.splitlines() if len(line) > 80] == []


def test_talks_of_our_own_are_asked_as_any_protocol_does(tmp_path):
    own = SAMPLES.parents[2] / "tests" / "data" / "talks" / "work" / "support_tickets.json"
    done = om("longmemeval", *RULES, own, "--limit", 4, "--json")

    assert json.loads(done.stdout)["whole"]["of"] == 4


def test_what_was_asked_is_not_asked_again_and_more_questions_go_on_in_the_same_folder():
    om("locomo", *RULES, "--limit", 3, "--out", "run")
    whole = om("locomo", *RULES, "--out", "run")
    again = om("locomo", *RULES, "--out", "run")

    assert "Still to do: 8 questions" in whole.stderr
    assert "Still to do" not in again.stderr
    assert again.stdout == whole.stdout


def test_other_settings_in_the_same_folder_are_refused_with_what_differs():
    om("locomo", *RULES, "--limit", 1, "--out", "run")
    refused = om("locomo", *RULES, "--limit", 1, "--out", "run", "--set", "message_threshold=4000")

    assert refused.exit_code == 2
    assert "settings was [] and is [" in refused.stderr
    assert "name another folder by --out" in refused.stderr


def test_other_bytes_under_the_same_name_are_another_run(tmp_path):
    file = tmp_path / "talk.json"
    file.write_text((SAMPLES / "locomo.json").read_text())
    om("locomo", *RULES, "--limit", 1, "--out", "run", file)
    file.write_text((SAMPLES / "locomo.json").read_text().replace("Marigold", "Petunia"))

    assert "files was" in om("locomo", *RULES, "--limit", 1, "--out", "run", file).stderr


def test_an_estimate_alone_needs_no_key_and_leaves_nothing(tmp_path):
    done = om("beam", "--model", "gemini-2.5-flash", "--judge", "gpt-5-mini", "--estimate", "--json")
    found = json.loads(done.stdout)

    assert done.exit_code == 0, done.output
    assert found["dollars"]["answers"][1] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_missing_is_named_before_anything_starts(tmp_path):
    done = om("locomo", "--model", "scripted", "--judge", "gpt-5-mini", "--yes")

    assert done.exit_code == 2
    assert "--judge gpt-5-mini needs a key: set OPENAI_API_KEY" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", ["foo=1", "message_threshold=none", "foo"])
def test_a_setting_that_cannot_be_is_named_before_anything_is_written(tmp_path, setting):
    done = om("locomo", *RULES, "--limit", 1, "--set", setting)

    assert done.exit_code == 2
    assert setting.partition("=")[0] in done.stderr.lower()
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_may_cost_starts_unasked(fake):
    with ReadingModel() as server:
        fake(server)
        done = om("locomo", "--model", "fake", "--judge", "scripted", "--limit", 1)
        assert done.exit_code == 2
        assert "add --yes to start it" in done.stderr
        assert server.calls == []
        assert om("locomo", "--model", "fake", "--judge", "scripted", "--limit", 1, "--yes").exit_code == 0
        assert len(server.calls) == 1


def test_a_provider_that_goes_away_ends_the_run_with_what_is_kept_and_how_to_go_on(fake, monkeypatch):
    monkeypatch.setattr("om_bench.judged.patience.MOST_S", 0.0)
    words = ("locomo", "--model", "fake", "--judge", "scripted", "--jobs", 1, "--yes", "--out", "run")
    with ReadingModel(gets=lambda _role, n: Behaviour.error_500 if n > 3 else None) as server:
        fake(server)
        done = om(*words)

    assert done.exit_code == 2
    assert "fake refused (500)" in done.stderr
    assert "3 answers and 3 judgements stand in run/journal.jsonl: the same command goes on there" in done.stderr


def test_questions_of_a_kind_that_there_is_none_of_are_told_which_there_are():
    done = om("locomo", *RULES, "--category", "poetry")

    assert done.exit_code == 2
    assert "name a kind of adversarial, single-hop, temporal" in done.stderr


@pytest.mark.parametrize("text", ["[]", "{", '[{"conversation": {}}]'])
def test_a_file_that_is_none_of_these_is_named(tmp_path, text):
    file = tmp_path / "odd.json"
    file.write_text(text)
    done = om("locomo", *RULES, file)

    assert done.exit_code == 2
    assert "odd.json" in done.stderr
    assert not (tmp_path / FILE).exists()


def test_a_file_of_another_protocol_is_refused_before_anything_is_asked(tmp_path):
    found = CliRunner().invoke(bench, ["longmemeval", *RULES, str(SAMPLES / "locomo.json")])
    assert found.exit_code != 0
    assert "om bench locomo" in f"{found.output}{found.exception}"
    assert not list(tmp_path.iterdir())
