"""`om redact`: it tells how much it finds, asks, and says what it does not reach."""

import pytest


@pytest.fixture
def told(world, monkeypatch):
    world.say("write to ada@example.com", id="m-1")
    monkeypatch.setenv("OM_REDACTION__BEFORE", "store")
    return world


def _said(world):
    return world.om.messages("harold", "t-1")[0].content


def test_it_tells_how_much_asks_and_replaces(om, told):
    result = om("redact", "harold", stdin="y\n")
    assert result.exit_code == 0, result.output
    assert "1 email:\n  messages: 1 place\n" in result.stdout
    assert "ada@example.com" not in result.output
    assert result.stdout.endswith("redacted\n")
    assert "backups and exported files are not reached" in result.stderr
    assert _said(told) == "write to [email]"


@pytest.mark.parametrize(("options", "stdin"), [(("--dry-run",), None), ((), "n\n")])
def test_it_changes_nothing_unless_it_is_told_to(om, told, options, stdin):
    om("redact", "harold", *options, stdin=stdin)
    assert _said(told) == "write to ada@example.com"


def test_where_nothing_is_redacted_it_says_what_to_set(om, world, monkeypatch):
    world.say("hello")
    result = om("redact", "harold", "--dry-run")
    assert result.exit_code == 2
    assert "set redaction.before to store" in result.stderr


def test_whoever_switches_it_on_is_told_what_it_does_not_reach(om, world):
    result = om("config", "set", "harold", "redaction.before=store", "--store")
    assert result.exit_code == 0, result.output
    assert "om redact harold --dry-run" in result.stderr
