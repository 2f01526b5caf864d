import json

import pytest
from click.testing import CliRunner
from model_server import ModelServer

from om_bench.__main__ import bench

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
        model = {"base_url": server.url, "prices": {"input": 1, "output": 2}}
        (tmp_path / "observational-memory.yaml").write_text(json.dumps({"models": {"fake": model}}))
        monkeypatch.setenv("OM_CONFIG_DIR", str(tmp_path))

    return served


def om(*words):
    return CliRunner().invoke(bench, [*map(str, words)])


@pytest.mark.nightly
def test_every_protocol_runs_from_a_file_to_a_score_without_a_model():
    for protocol, of in [("longmemeval", 10), ("locomo", 9), ("beam", 11)]:
        done = om(protocol, *RULES, "--json")

        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["protocol"] == protocol, (protocol, of)
        assert found["whole"]["of"] == of, (protocol, of)
        assert 0 < found["whole"]["score"] < 100, (protocol, of)
        assert "| if it were | notes | answers | judgements | altogether, dollars |" in done.stderr, (protocol, of)
        assert "| gemini-2.5-flash | $" in done.stderr, (protocol, of)


def test_nothing_that_may_cost_starts_unasked(fake):
    with ModelServer() as server:
        fake(server)
        done = om("locomo", "--model", "fake", "--judge", "scripted", "--limit", 1)
        assert done.exit_code == 2
        assert "add --yes to start it" in done.stderr
        assert server.calls == []
