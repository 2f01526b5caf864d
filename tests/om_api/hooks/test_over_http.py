"""A server is posted to as a webhook's receiver is, signed, and its answer is read up to a bound."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook
from om_api.hooks import asking
from om_api.hooks.asking import ask_all

GIVEN = {"resource": "harold", "thread": None, "generation": 1, "text": "* all"}
SECRET = signing.new_secret()


@contextmanager
def serving(status, body, pause=0.0):
    """A server that answers so, a byte each `pause`: its address, and the requests it had."""
    came = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.send_header("location", f"http://127.0.0.1:{server.server_address[1]}/other")
            self.end_headers()
            for at in range(len(body)) if pause else ():
                self.wfile.write(body[at : at + 1])
                time.sleep(pause)
            self.wfile.write(b"" if pause else body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/om?k=in-the-query", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", SECRET)


def asked(url, *, private=True, timeout=5.0):
    hook = Hook(url=url, secret_env="HOOK_SECRET", timeout=timeout)
    return ask_all("after_reflect", [hook], GIVEN, allow_private=private)


def test_what_is_given_is_posted_and_signed_and_the_answer_counts():
    with serving(200, b'{"text": "* less"}') as (url, came):
        found = asked(url)

    ((headers, body),) = came
    assert json.loads(body) == {"point": "after_reflect", **GIVEN}
    signed = signing.headers(SECRET, headers["webhook-id"], int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == signed["webhook-signature"]
    assert headers["content-type"] == "application/json"
    assert (found.given["text"], found.failures) == ("* less", ())


def test_no_answer_changes_nothing():
    for status, body in ((204, b""), (200, b""), (200, b"null"), (200, b"{}")):
        with serving(status, body) as (url, _):
            found = asked(url)
        assert (found.given["text"], found.failures) == ("* all", ()), (status, body)


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
            monkeypatch.setenv("HOOK_SECRET", held) if held else monkeypatch.delenv("HOOK_SECRET")
            (failure,) = asked(url).failures
            assert (failure.why, came) == ("missing", []), held
            assert "HOOK_SECRET" in failure.detail
            assert not held or held not in failure.detail
