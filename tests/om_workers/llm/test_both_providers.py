"""What holds for every provider, through its real SDK, against a server of our own that misbehaves as it is told."""

import gzip
import logging
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from model_requests import KEY, SECRET, failing, observe, refused
from model_server import Behaviour, Canned, ModelServer, answer_to, whole
from provider_models import opened
from structlog.testing import capture_logs

from om_api.domain.errors import ModelError, SettingsError
from om_workers.llm.base import BilledError
from om_workers.process.stopping import StoppedError, Stopping

THREADS = 128  # more than an SDK opens connections unless it is told
LATER = "; it is asked again by itself"


def test_an_answer_comes_back_with_its_cost_and_the_key_goes_in_a_header_only(server, model, caplog):
    reply = model.complete(observe())
    assert reply.text == answer_to(server.last)
    assert reply.model == "fake"
    assert reply.usage.input // 4 == reply.usage.cached > 0
    assert reply.usage.output == len(reply.text) // 4
    model.complete(observe())
    assert KEY in str(server.last_headers)
    assert KEY not in server.last_path
    assert KEY not in str(server.last)
    # SDKs and their transport write a line for each request, with its address, and more at DEBUG
    caplog.set_level(logging.DEBUG)
    model.complete(observe())
    assert [record.name for record in caplog.records if record.name != "asyncio"] == []


def test_no_variable_of_an_sdk_sends_the_key_or_the_prompt_elsewhere_or_another_key_here(
    provider, server, monkeypatch, tmp_path
):
    variables = {
        "http://127.0.0.1:1": "OPENAI_BASE_URL GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL",
        "not-for-you": "OPENAI_API_KEY OPENAI_ADMIN_KEY OPENAI_ORG_ID OPENAI_PROJECT_ID GEMINI_API_KEY GOOGLE_API_KEY "
        "GOOGLE_CLOUD_PROJECT",
        "true": "GOOGLE_GENAI_USE_VERTEXAI GOOGLE_GENAI_USE_ENTERPRISE",
        "v9": "GOOGLE_GENAI_API_VERSION", "record": "GOOGLE_GENAI_CLIENT_MODE",
        str(tmp_path): "GOOGLE_GENAI_REPLAYS_DIRECTORY",
    }  # fmt: skip
    for value, names in variables.items():
        for name in names.split():
            monkeypatch.setenv(name, value)
    with opened(provider, server.root, key="") as model:
        model.complete(observe())
    assert "not-for-you" not in f"{server.last_headers} {server.last} {server.last_path}"
    assert "v9" not in server.last_path
    assert list(tmp_path.iterdir()) == []


DEEP = b'{"error":' * 900 + b'"x"' + b"}" * 900


def test_threads_share_one_client_and_are_answered_side_by_side(provider):
    # nobody is answered before all have asked: with fewer connections the others would wait until their time is over
    at_once = threading.Barrier(THREADS)
    with ModelServer() as server, opened(provider, server.root) as model, ThreadPoolExecutor(THREADS) as pool:
        server.wait = lambda seconds: at_once.wait(60)
        asked = [observe(f"[[w1-{n}]] hello", timeout=60.0) for n in range(THREADS)]
        texts = [reply.text for reply in pool.map(model.complete, asked)]
    assert [n for n, text in enumerate(texts) if f"[[w1-{n}]]" not in text] == []


def test_what_a_useless_answer_took_is_told_for_the_provider_bills_it(server, model):
    for gets in (Behaviour.length, Behaviour.empty):
        error = failing(server, model, gets)
        assert isinstance(error, BilledError), gets
        assert error.usage.input > 0, gets


def test_every_failure_says_whose_fault_it_is(server, model):
    """Breaks when anything but a ModelError is raised: it burns attempts until innocent messages are quarantined."""
    for gets, retryable, says in [
        (Behaviour.error_500, True, f"refused (500): internal error{LATER}"),
        (Behaviour.error_429, True, "refused (429): rate limit reached"), (Behaviour.garbage, True, "cannot be read"),
        (Behaviour.drop, True, "could not be reached, or hung up"), (Behaviour.empty, True, "answered nothing"),
        (Behaviour.blocked, False, "blocked by the provider"),
        (Behaviour.length, False, "ran out of room for its answer; raise its max_output_tokens"),
        (refused(401, "Incorrect key"), True, "refused (401): Incorrect key; put a valid key"),
        (refused(402, "Insufficient Balance"), True, "see to the provider's bill"),
        (refused(403, "Country not supported"), True, "see what its key may do"),
        (refused(404, "The model `x` does not exist"), True, "correct its model or base_url"),
        (refused(400, "maximum context length is 8192 tokens"), False, "if it refuses everything, correct its options"),
        (refused(413, "too large"), False, "too large"),
        (Canned(422, {"detail": "unprocessable"}), False, "unprocessable"),
        (refused(400, "API key not valid. Please pass a valid API key."), True, "correct its model, key or options"),
        (Canned(502, b"<html><body>Bad gateway</body></html>"), True, f"refused (502){LATER}"),
        (Canned(500, b"\xff\xfe{"), True, "fake"), (Canned(503, [{"error": {"message": "overloaded"}}]), True, "fake"),
        (Canned(500, {"error": "oops"}), True, "refused (500): oops"),
        (Canned(500, b'"' + b"[" * 100_000), True, "refused (500)"),
        (Canned(200, {"error": {"code": 429, "message": "slow down"}}), True, "refused (429): slow down"),
        (Canned(200, {"error": "down"}), True, "refused (500): down"), (Canned(200, {}), True, "answered without"),
        (Canned(200, b""), True, "cannot be read"), (Canned(200, b"[]"), True, "cannot be read"),
        (Canned(200, b'{"usage": ' + b"[" * 100_000), True, "cannot be read"),
        (Canned(200, b"nonsense", {"Content-Encoding": "gzip"}), True, "hung up (DecodingError)"),
        (Canned(304, b""), True, "correct its base_url"),
        (Canned(200, b"event: ping", {"Content-Type": "text/event-stream"}), True, "cannot be read"),
        (refused(429, headers={"Retry-After": "Mon, 01 Jan 2035 00:00:00 +99999999999999999999"}), True, "(429)"),
        (Canned(200, DEEP), True, "fake"), (Canned(500, DEEP), True, "fake"),
        (Canned(500, b"ab", {"Content-Type": "text/html; charset=hex"}), True, "fake"),
        (Canned(200, b'{"error": {"message": "x", "code": ' + b"9" * 4000 + b"}}"), True, "fake"),
    ]:  # fmt: skip
        error = failing(server, model, gets)
        assert says in str(error), (gets, retryable, says)
        assert error.retryable is retryable, (gets, retryable, says)
        assert len(str(error)) < 500, gets


def test_headers_that_are_not_ascii_break_no_answer_and_no_429(server, model):
    """Breaks when headers are written anew as ASCII: every answer that passes such a proxy was paid for and lost."""
    good = model.complete(observe()).text
    for place in ("Zürich", "\xb2"):
        answer = Canned(200, whole(server.last, good), {"X-Served-By": place})
        server.plan = lambda n, purpose, answer=answer: answer
        assert model.complete(observe()).text == good, place
    for headers, seconds in (({"Retry-After": "\xb2"}, 20.0), ({"Retry-After": "7", "X-Served-By": "Zürich"}, 7.0)):
        error = failing(server, model, refused(429, "slow down", headers))
        assert (error.why, error.retryable, error.retry_after) == ("busy", True, seconds), headers


def test_a_key_that_no_header_can_hold_is_not_the_requests_fault(provider, server):
    """Catches a message that is halved and quarantined because a key was pasted with a letter of another alphabet."""
    with opened(provider, server.root, key="sk-pröd") as model, pytest.raises(ModelError) as caught:
        model.complete(observe())
    assert caught.value.retryable
    assert "half a character" not in str(caught.value)


def test_what_cannot_be_written_in_utf_8_is_the_requests_fault(model):
    with pytest.raises(ModelError, match="half a character") as caught:
        model.complete(msgspec.structs.replace(observe(), prompt="\ud83d"))
    assert not caught.value.retryable


def test_nothing_is_asked_twice_of_a_server_that_fails(server, model):
    # an SDK would ask up to five times: each of them a call that nobody decided on, within one timeout
    failing(server, model, Behaviour.error_500)
    failing(server, model, Behaviour.drop)
    assert len(server.calls) == 2


@pytest.mark.parametrize("gets", [Behaviour.stall, Behaviour.drip])
def test_a_call_that_a_stopping_process_leaves_ends_at_once_and_is_no_fault_of_the_model(server, model, gets):
    """Breaks when that passes for an error of the provider's: the model would be asked again, or its breaker open."""
    stopping = Stopping()
    model._wait = stopping.wait_for
    server.plan = lambda n, purpose: gets
    threading.Timer(0.3, stopping.leave).start()
    with pytest.raises(StoppedError):
        model.complete(observe(timeout=20.0))


@pytest.mark.parametrize("gets", [Behaviour.stall, Behaviour.drip])
def test_a_call_ends_when_its_time_is_over_whatever_the_server_does(server, model, gets):
    # with the SDK's own timeouts alone a dripping server is waited for without end: each byte starts them anew
    error = failing(server, model, gets, observe(timeout=0.3))
    assert error.retryable
    assert "no whole answer within 0.3 s" in str(error)


def test_no_error_and_no_log_tells_the_key_or_a_message(server, model, caplog):
    # providers quote what they refuse, and some of them the key
    caplog.set_level(logging.DEBUG)
    body = {"error": {"message": f"key {KEY} and sk-pr***ijkl refused; input was: {SECRET} {'x' * 900}"}}
    for status in (400, 401, 429, 500):
        with capture_logs() as logs:
            error = failing(server, model, Canned(status, body))
        told = f"{error} {caplog.text} {logs}"
        assert "refused; input was:" in str(error), status
        assert [secret for secret in (KEY, KEY[:8], "ijkl", SECRET, "vault opens") if secret in told] == [], status
        assert len(str(error)) < 500, status


def test_a_models_own_temperature_size_and_options_are_sent(provider, server):
    size = {"openai": "max_tokens", "gemini": "maxOutputTokens"}[provider]
    for settings, temperature, tokens in [
        ({}, 0.3, None), ({"temperature": 1.0, "max_output_tokens": 900}, 1.0, 900),
        ({"temperature": "omit"}, None, None),
        ({"max_output_tokens": 900, "options": {size: 5, "temperature": 0.9}}, 0.9, 5),
    ]:  # fmt: skip
        with opened(provider, server.root, **settings) as model:
            model.complete(observe())
        asked = server.last.get("generationConfig", server.last)
        assert (asked.get("temperature"), asked.get(size)) == (temperature, tokens), settings


def test_neither_the_key_nor_what_was_said_follows_a_redirect(provider, server, model):
    """Breaks when redirects are followed: 307 takes the conversation along, and whatever answers a 302 is believed."""
    path = {"openai": "/v1/chat/completions", "gemini": "/v1beta/models/fake:generateContent"}[provider]
    with ModelServer() as other:
        elsewhere = {"Location": f"{other.root.replace('127.0.0.1', 'localhost')}{path}"}
        for status in (301, 302, 307, 308):
            error = str(failing(server, model, Canned(status, b"", elsewhere)))
            assert other.calls == [], status
            assert (f"refused ({status})" in error, "correct its base_url" in error) == (True, True), status


def test_an_answer_without_end_is_left_before_it_fills_the_worker(server, model):
    """Breaks when a body is read to its end: 200 kB of gzip are 200 MB, and 20 of those end the worker."""
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=1)
    for status, body, headers in ((200, bomb, {"Content-Encoding": "gzip"}), (500, b" " * 17_000_000, {})):
        tracemalloc.start()
        error = failing(server, model, Canned(status, body, headers))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert "answered more than 16 MB" in str(error), status
        assert error.retryable, status
        assert peak < 100_000_000, status


def test_an_address_that_is_none_is_found_before_anything_is_asked(provider):
    for root in ("http://[::1", "https://host:port"):
        with pytest.raises(SettingsError, match="base_url is no address"), opened(provider, root):
            pass
