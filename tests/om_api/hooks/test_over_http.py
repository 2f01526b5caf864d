"""A server is posted to as a webhook's receiver is, signed, and its answer is read up to a bound."""

import json
from contextlib import contextmanager

import pytest
from receiver import receiving

from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook
from om_api.hooks import asking
from om_api.hooks.asking import ask_all

GIVEN = {"resource": "harold", "thread": None, "generation": 1, "text": "* all"}
SECRET = signing.new_secret()


@contextmanager
def serving(status, body, pause=0.0):
    """A server that answers so: its address, and the requests it had."""
    with receiving() as receiver:
        receiver.says.append(status)
        receiver.body, receiver.pause = body, pause
        yield receiver.url, receiver.came


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("OM_SECRET_HOOK", SECRET)


def asked(url, *, private=True, timeout=5.0):
    hook = Hook(url=url, secret_env="OM_SECRET_HOOK", timeout=timeout)
    return ask_all("after_reflect", [hook], GIVEN, allow_private=private)


def test_what_is_given_is_posted_and_signed_and_the_answer_counts():
    with serving(200, b'{"text": "* less"}') as (url, came):
        found = asked(url)

    ((_, headers, body, _),) = came
    assert json.loads(body) == {"point": "after_reflect", **GIVEN}
    signed = signing.headers(SECRET, headers["webhook-id"], int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == signed["webhook-signature"]
    assert headers["content-type"] == "application/json"
    assert (found.given["text"], found.failures) == ("* less", ())


def test_what_cannot_be_used_is_a_failure_that_shows_nothing_of_the_address(monkeypatch):
    monkeypatch.setattr(asking, "LONGEST", 100)
    for status, body, why, says in (
        (500, b'{"text": "* less"}', "error", ""),
        (302, b"", "error", ""),
        (201, b'{"text": "* less"}', "error", ""),
        (200, b"<html>", "answer", ""),
        (200, json.dumps({"text": "x" * 200}).encode(), "error", "more than 100 bytes"),
    ):
        with serving(status, body) as (url, came):
            (failure,) = asked(url).failures
        assert (failure.why, len(came)) == (why, 1), (status, body)
        assert says in failure.detail
        assert "in-the-query" not in f"{failure.detail} {failure.hook.name}"


def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time():
    with serving(200, b'{"text": "* less"}' * 9, pause=0.05) as (url, _):  # 8 s in all
        (failure,) = asked(url, timeout=0.3).failures

    assert failure.why == "timeout"


def test_without_a_secret_or_a_public_address_nobody_is_asked(monkeypatch):
    with serving(204, b"") as (url, came):
        (failure,) = asked(url, private=False).failures
        assert (failure.why, came) == ("error", [])
        for held in ("whsec_?", "whsec_abc", "whsec_Z3Vlc3NlZA==", ""):
            monkeypatch.setenv("OM_SECRET_HOOK", held) if held else monkeypatch.delenv("OM_SECRET_HOOK")
            (failure,) = asked(url).failures
            assert (failure.why, came) == ("missing", []), held
            assert "OM_SECRET_HOOK" in failure.detail
            assert not held or held not in failure.detail
