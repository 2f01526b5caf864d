"""`om mcp`: what its options make of whoever asks; what it serves is played in tests/e2e/test_mcp.py."""

import pytest
from click.testing import CliRunner

from om_api.cli import main
from om_api.cli.commands import mcp
from om_api.domain.api_keys import Role


@pytest.fixture
def served(monkeypatch, own_store):
    started = []

    async def serve(settings, caller):
        started.append((settings, caller))

    monkeypatch.setattr(mcp, "serve", serve)
    monkeypatch.setattr(mcp, "log_to_stderr", lambda **_: None)
    return started


def run(*words):
    return CliRunner().invoke(main, ["mcp", *words])


def test_it_serves_everything_unless_it_is_told_less(served, prefix):
    assert run().exit_code == 0
    ((settings, caller),) = served
    assert settings.prefix == prefix
    assert (caller.key.role, caller.key.resources, caller.said) == (Role.OPERATOR, ("*",), {})


def test_what_is_named_is_meant_and_no_other_is_reached(served):
    assert run("--resource", "harold", "--thread", "t-1", "--role", "reader").exit_code == 0
    ((_, caller),) = served
    assert (caller.key.role, caller.key.resources) == (Role.READER, ("harold",))
    assert caller.said == {"resource_id": "harold", "thread_id": "t-1"}


def test_what_cannot_be_is_refused_in_a_line(served):
    for words in (("--resource", "a b"), ("--resource", ""), ("--thread", ".."), ("--role", "king")):
        done = run(*words)
        assert (done.exit_code, done.stdout, served) == (2, "", []), words
        assert ("is not an id" if words[0] != "--role" else "'king' is not one of") in done.stderr, words
