"""Redaction over HTTP: old text by operators, and what is pushed, read and shown from the first moment on."""

import pytest

from om_api.redaction.making import key_of

PATH = "/v1/resources/harold/redact"


@pytest.fixture
def settings(settings, monkeypatch):
    from world import SMALL

    from om_api import load_settings

    named = {"OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url, "OM_REDACTION__BEFORE": "store"}
    return load_settings(None, {**SMALL, **named})


def test_old_text_is_told_and_then_redacted(ask, world):
    world.say("write to ada@example.com")
    would = ask("POST", PATH, json={"dry_run": True})
    assert would.json() == {"outcome": "rest", "kinds": {"email": 1}, "places": {"messages": 1}}
    assert "ada@example.com" in world.context().text
    did = ask("POST", PATH, json={})
    assert did.json() == {"outcome": "cleared", "kinds": {"email": 1}, "places": {"messages": 1}}
    assert "ada@example.com" not in world.context().text
    assert ask("POST", PATH, json={}).json()["outcome"] == "rest"


def test_what_is_pushed_is_redacted_before_it_is_stored(ask, world):
    said = {"messages": [{"role": "user", "content": "ada@example.com", "id": "m-1"}]}
    assert ask("POST", "/v1/resources/harold/threads/t-1/messages", json=said).status_code < 300
    assert [each.content for each in world.om.messages("harold", "t-1")] == ["[email]"]


def test_a_key_that_is_not_set_where_the_api_runs_is_named(ask, monkeypatch):
    monkeypatch.setattr("om_api.client.redacting.redactor", lambda *_: key_of("NOWHERE_SET"))
    said = {"messages": [{"role": "user", "content": "ada@example.com", "id": "m-1"}]}
    refused = ask("POST", "/v1/resources/harold/threads/t-1/messages", json=said)
    assert refused.status_code == 503
    assert "NOWHERE_SET, which is not set" in refused.json()["detail"]


def test_only_operators_may(using):
    assert using("writer", "harold")("POST", PATH, json={}).status_code == 403
