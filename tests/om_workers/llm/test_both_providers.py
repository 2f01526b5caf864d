"""What holds for every provider, through its real SDK, against a server of our own that misbehaves as it is told."""

import contextlib
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from model_requests import KEY, SECRET, failing, observe, refused
from model_server import Behaviour, Canned, ModelServer, answer_to, marks, whole
from provider_models import opened
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome
from om_workers.llm.base import BilledError, TurnedAwayError
from om_workers.process.stopping import StoppedError, Stopping
from om_workers.prompts.parse import parse_observer

THREADS = 128  # more than an SDK opens connections unless it is told
LATER = "; it is asked again by itself"


# -- what is asked, and what comes back


def test_an_answer_comes_back_under_the_name_of_the_configuration_with_what_it_cost(server, model):
    reply = model.complete(observe())

    assert reply.text == answer_to(server.last)
    assert reply.model == "fake"
    assert reply.usage.input // 4 == reply.usage.cached > 0
    assert reply.usage.output == len(reply.text) // 4


def test_the_key_is_sent_in_a_header_and_never_in_the_address(server, model):
    model.complete(observe())

    assert KEY in str(server.last_headers)
    assert KEY not in server.last_path
    assert KEY not in str(server.last)


def test_no_variable_of_an_sdk_sends_the_key_or_the_prompt_elsewhere_or_another_key_here(
    provider, server, monkeypatch, tmp_path
):
    for name in ("OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_CLOUD_PROJECT",
    ):
        monkeypatch.setenv(name, "not-for-you")
    for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "record")
    monkeypatch.setenv("GOOGLE_GENAI_REPLAYS_DIRECTORY", str(tmp_path))
    with opened(provider, server.root, key="") as model:
        model.complete(observe())

    assert "not-for-you" not in f"{server.last_headers} {server.last} {server.last_path}"
    assert "v9" not in server.last_path
    assert list(tmp_path.iterdir()) == []


DEEP = b'{"error":' * 900 + b'"x"' + b"}" * 900


@pytest.mark.parametrize(
    ("gets", "retryable"),
    [
        (refused(429, headers={"Retry-After": "Mon, 01 Jan 2035 00:00:00 +99999999999999999999"}), True),
        (Canned(200, DEEP), True),
        (Canned(500, DEEP), True),
        (Canned(500, b"ab", {"Content-Type": "text/html; charset=hex"}), True),
        (Canned(200, b'{"error": {"message": "x", "code": ' + b"9" * 4000 + b"}}"), True),
    ],
    ids=["a zone of twenty digits", "deep", "refused and deep", "no charset", "no status"],
)
def test_no_answer_makes_a_call_fail_in_a_way_that_counts_as_an_attempt(server, model, gets, retryable):
    """Breaks when anything but a ModelError is raised: it burns attempts until innocent messages are quarantined.

    The task logs its traceback then, too, with all that the provider said.
    """
    error = failing(server, model, gets)

    assert error.retryable is retryable
    assert len(str(error)) < 500


def test_half_a_character_of_a_provider_is_none_of_the_error(server, model):
    """Breaks when an error cannot be written down: neither the quarantine nor the log would take it."""
    error = failing(server, model, Canned(400, b'{"error": {"code": 400, "message": "bad \\ud800 thing"}}'))

    assert "bad ? thing" in str(error)
    str(error).encode()


def test_threads_share_one_client_and_are_answered_side_by_side(provider):
    # nobody is answered before all have asked: with fewer connections the others would wait until their time is over
    at_once = threading.Barrier(THREADS)
    with ModelServer() as server, opened(provider, server.root) as model, ThreadPoolExecutor(THREADS) as pool:
        server.wait = lambda seconds: at_once.wait(60)
        asked = [observe(f"[[w1-{n}]] hello", timeout=60.0) for n in range(THREADS)]
        texts = [reply.text for reply in pool.map(model.complete, asked)]

    assert [n for n, text in enumerate(texts) if f"[[w1-{n}]]" not in text] == []


# -- what goes wrong, and whose fault it is


@pytest.mark.parametrize("gets", [Behaviour.length, Behaviour.empty])
def test_what_a_useless_answer_took_is_told_for_the_provider_bills_it(provider, gets):
    with ModelServer(lambda n, purpose: gets) as server, opened(provider, server.root) as model:
        error = failing(server, model, gets)

    assert isinstance(error, BilledError)
    assert error.usage.input > 0


@pytest.mark.parametrize(
    ("gets", "retryable", "says"),
    [
        (Behaviour.error_500, True, f"refused (500): internal error{LATER}"),
        (Behaviour.error_429, True, "refused (429): rate limit reached"),
        (Behaviour.garbage, True, "cannot be read"),
        (Behaviour.drop, True, "could not be reached, or hung up"),
        (Behaviour.empty, True, "answered nothing"),
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
        (Canned(500, b"\xff\xfe{"), True, "fake"),
        (Canned(503, [{"error": {"message": "overloaded"}}]), True, "fake"),
        (Canned(500, {"error": "oops"}), True, "refused (500): oops"),
        (Canned(500, b'"' + b"[" * 100_000), True, "refused (500)"),
        (Canned(200, {"error": {"code": 429, "message": "slow down"}}), True, "refused (429): slow down"),
        (Canned(200, {"error": "down"}), True, "refused (500): down"),
        (Canned(200, {}), True, "answered without"),
        (Canned(200, b""), True, "cannot be read"),
        (Canned(200, b"[]"), True, "cannot be read"),
        (Canned(200, b'{"usage": ' + b"[" * 100_000), True, "cannot be read"),
        (Canned(200, b"nonsense", {"Content-Encoding": "gzip"}), True, "hung up (DecodingError)"),
        (Canned(304, b""), True, "correct its base_url"),
        (Canned(200, b"event: ping", {"Content-Type": "text/event-stream"}), True, "cannot be read"),
    ],
)
def test_every_failure_says_whose_fault_it_is(server, model, gets, retryable, says):
    error = failing(server, model, gets)

    assert says in str(error)
    assert error.retryable is retryable


def test_an_answer_that_ends_within_its_json_is_asked_for_again(provider, server, model):
    whole = b'{"choices": [{"message": {"content": "<observations>', b'{"candidates": [{"content": {"parts": [{"te'
    error = failing(server, model, Canned(200, whole[provider == "gemini"]))

    assert "cannot be read (DecodeError)" in str(error)
    assert error.retryable


def test_what_cannot_be_written_in_utf_8_is_the_requests_fault(model):
    with pytest.raises(ModelError, match="half a character") as caught:
        model.complete(msgspec.structs.replace(observe(), prompt="\ud83d"))

    assert not caught.value.retryable


@pytest.mark.parametrize("place", ["Zürich", "\xb2"])
def test_an_answer_whose_headers_are_not_ascii_is_an_answer(server, model, place):
    """Breaks when headers are written anew as ASCII: every answer that passes such a proxy was paid for and lost."""
    good = model.complete(observe()).text
    server.plan = lambda n, purpose: Canned(200, whole(server.last, good), {"X-Served-By": place})

    assert model.complete(observe()).text == good


@pytest.mark.parametrize("headers", [{"Retry-After": "\xb2"}, {"Retry-After": "7", "X-Served-By": "Zürich"}])
def test_a_429_whose_headers_are_not_ascii_is_one(server, model, headers):
    error = failing(server, model, refused(429, "slow down", headers))

    assert (error.why, error.retryable) == ("busy", True)
    assert error.retry_after == (20.0 if headers["Retry-After"] == "\xb2" else 7.0)


def test_a_key_that_no_header_can_hold_is_not_the_requests_fault(provider, server):
    """Catches a message that is halved and quarantined because a key was pasted with a letter of another alphabet."""
    with opened(provider, server.root, key="sk-pröd") as model, pytest.raises(ModelError) as caught:
        model.complete(observe())

    assert caught.value.retryable
    assert "half a character" not in str(caught.value)


def test_nothing_is_asked_twice_of_a_server_that_fails(server, model):
    # an SDK would ask up to five times: each of them a call that nobody decided on, within one timeout
    failing(server, model, Behaviour.error_500)
    failing(server, model, Behaviour.drop)

    assert len(server.calls) == 2


def test_a_refusal_in_words_is_an_answer_that_the_observer_must_judge(server, model):
    server.plan = lambda n, purpose: Behaviour.refusal

    assert not parse_observer(model.complete(observe()).text).readable


def test_a_server_that_is_not_there_is_asked_again(provider):
    with ModelServer() as gone:
        pass
    with opened(provider, gone.root) as model, pytest.raises(ModelError, match="could not be reached") as caught:
        model.complete(observe(timeout=5.0))

    assert caught.value.retryable
    assert isinstance(caught.value, TurnedAwayError)


# -- time


@pytest.mark.parametrize("gets", [Behaviour.stall, Behaviour.drip])
def test_a_call_that_a_stopping_process_leaves_ends_at_once_and_is_no_fault_of_the_model(server, model, gets):
    """Breaks when that passes for an error of the provider's: the model would be asked again, or its breaker open."""
    stopping = Stopping()
    model._wait = stopping.wait_for
    server.plan = lambda n, purpose: gets
    threading.Timer(0.3, stopping.leave).start()
    began = time.monotonic()
    with pytest.raises(StoppedError):
        model.complete(observe(timeout=20.0))

    assert time.monotonic() - began < 5


@pytest.mark.parametrize("gets", [Behaviour.stall, Behaviour.drip])
def test_a_call_ends_when_its_time_is_over_whatever_the_server_does(server, model, gets):
    # with the SDK's own timeouts alone a dripping server is waited for without end: each byte starts them anew
    error = failing(server, model, gets, observe(timeout=0.3))

    assert error.retryable
    assert "no whole answer within 0.3 s" in str(error)


def test_a_server_that_drips_its_headers_is_left_in_time_too(provider):
    with _dripping_headers() as root, opened(provider, root) as model:  # noqa: SIM117  the server ends last
        with pytest.raises(ModelError, match=r"no whole answer within 0\.3 s"):
            model.complete(observe(timeout=0.3))


@contextlib.contextmanager
def _dripping_headers():
    over = threading.Event()

    def drip():
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not over.wait(0.05):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        thread.join()


def test_a_call_that_timed_out_leaves_the_client_usable(server, model):
    failing(server, model, Behaviour.drip, observe(timeout=0.3))
    server.plan = lambda n, purpose: Behaviour.answer

    assert "[[w1-1]]" in model.complete(observe()).text


def test_a_429_says_how_long_to_wait(server, model):
    assert failing(server, model, Behaviour.error_429).retry_after == 1.0


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_is_a_second_at_least(server, model, status):
    """Catches a wait of no milliseconds, after which the provider that refuses everything is asked again at once."""
    assert failing(server, model, refused(status, headers={"Retry-After": "0.0001"})).retry_after == 1.0


def test_a_wait_is_ten_minutes_at_most(server, model):
    assert failing(server, model, refused(429, headers={"Retry-After": "86400"})).retry_after == 600.0


# -- keys, and what was said


@pytest.mark.parametrize("status", [400, 401, 422, 429, 500])
def test_no_error_and_no_log_tells_the_key_or_a_message(server, model, status, caplog):
    # providers quote what they refuse, and some of them the key
    caplog.set_level(logging.DEBUG)
    body = {"error": {"message": f"key {KEY} and sk-pr***ijkl refused; input was: {SECRET} {'x' * 900}"}}
    with capture_logs() as logs:
        error = failing(server, model, Canned(status, body))

    told = f"{error} {caplog.text} {logs}"
    assert "refused; input was:" in str(error)
    assert [secret for secret in (KEY, KEY[:8], "ijkl", SECRET, "vault opens") if secret in told] == []
    assert len(str(error)) < 500


def test_a_call_logs_nothing_for_its_task_does(model, caplog):
    # SDKs and their transport write a line for each request, with its address, and more at DEBUG
    caplog.set_level(logging.DEBUG)
    model.complete(observe())

    assert [record.name for record in caplog.records if record.name != "asyncio"] == []


# -- a model's own settings


@pytest.mark.parametrize(("temperature", "sent"), [(None, 0.3), (1.0, 1.0), ("omit", None)])
def test_a_models_own_temperature_is_sent_or_none(provider, server, temperature, sent):
    with opened(provider, server.root, temperature=temperature) as model:
        model.complete(observe())

    assert server.last.get("generationConfig", server.last).get("temperature") == sent


def test_a_models_size_of_answers_is_sent_by_the_name_that_its_provider_knows(provider, server):
    with opened(provider, server.root, max_output_tokens=900) as model:
        model.complete(observe())

    asked = {"openai": server.last, "gemini": server.last.get("generationConfig")}[provider]
    assert asked[{"openai": "max_tokens", "gemini": "maxOutputTokens"}[provider]] == 900


def test_options_win_over_whatever_else_is_sent(provider, server):
    size = {"openai": "max_tokens", "gemini": "maxOutputTokens"}[provider]
    with opened(provider, server.root, max_output_tokens=900, options={size: 5, "temperature": 0.9}) as model:
        model.complete(observe())

    asked = server.last.get("generationConfig", server.last)
    assert (asked[size], asked["temperature"]) == (5, 0.9)


# -- the whole house, talking to the server


@pytest.fixture
def world(client, prefix, model):
    return World(client, prefix, model)


def test_every_mark_that_was_said_can_be_found_in_what_the_actor_reads(world, server):
    world.say(*[f"[[w1-{n}]] I said this as the {n}th thing, at length, so that notes take room" for n in range(60)])
    world.settle()
    world.om.force_reflect(resource_id="harold")
    world.settle()

    assert {call.purpose for call in server.calls} == {"observe", "reflect"}
    assert set(marks(world.context().text)) == {f"[[w1-{n}]]" for n in range(60)}


def test_every_mark_is_found_although_the_first_calls_fail_in_every_way(world, server):
    failures = [Behaviour.error_500, Behaviour.error_429, Behaviour.garbage, Behaviour.empty, Behaviour.drop]
    server.plan = lambda n, purpose: failures[n - 1] if n <= len(failures) else Behaviour.answer
    chunk = _sealed(world)
    for _ in failures:
        with pytest.raises(ModelError):
            world.perform("observe_chunk", "harold", chunk)

    assert world.perform("observe_chunk", "harold", chunk) is Outcome.BUFFERED
    assert world.client.llen(f"{world.prefix}:{{harold}}:rejected") == 0


def _sealed(world):
    """Say enough for a chunk, have it sealed, and return its id."""
    world.say("[[w1-1]] one", "[[w1-2]] two")
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    ((_, (_, chunk)),) = world.dispatch.queue
    return chunk
