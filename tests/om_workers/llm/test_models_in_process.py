"""Models and connections of a process: scripted answers, faults, and what a body says when it was redacted."""

import gzip
import json
import tracemalloc

import pytest
from model_requests import failing
from model_server import Behaviour, Canned, ModelServer
from planted import ALL, KEY, PASSWORD, leaks, store_bytes
from provider_models import opened
from traced import traced
from world import World

from om_api.domain.errors import ModelError, SettingsError
from om_api.domain.messages import Message
from om_workers.llm.base import Reply, Request
from om_workers.llm.scripted import Scripted


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


NOON = 1_764_858_600_000  # Dec 4, 2025, 14:30 UTC


def ask(purpose="observe", **fields):
    return Request(purpose=purpose, system="", prompt="", **fields)


def message(number, text, at=NOON):
    return Message(role="user", content=text, id=f"m-{number}", at=at)


def test_replies_are_given_in_order_and_said_to_be_used_up():
    model = Scripted("first", Reply(text="second", model="x"), lambda request: request.purpose, name="fake")
    assert model.complete(ask()) == Reply(text="first", model="fake")
    assert model.complete(ask()) == Reply(text="second", model="x")
    assert model.complete(ask("reflect")).text == "reflect"
    model = Scripted(ModelError("busy", retry_after=3), "fine")
    with pytest.raises(ModelError, match="busy"):
        model.complete(ask())
    assert model.complete(ask()).text == "fine"
    model = Scripted("only")
    model.complete(ask())
    with pytest.raises(ModelError, match="asked 2 times but has only 1") as error:
        model.complete(ask())
    assert not error.value.retryable


def test_echo_notes_every_message_with_its_id_and_time_and_echo_reflects_every_line_once():
    seen = (message(1, "I live\nin Lisbon"), message(2, "x" * 90, NOON + 86_400_000))
    assert Scripted.echo().complete(ask(messages=seen, timezone="Europe/Berlin")).text == "\n".join(
        ["<observations>", "Date: Dec 4, 2025", "* 🟡 (15:30) [m-1] I live in Lisbon", "Date: Dec 5, 2025",
         f"* 🟡 (15:30) [m-2] {'x' * 60}", "</observations>"])  # fmt: skip
    reply = Scripted.echo().complete(ask("reflect", observations=("Date: Dec 4, 2025\n* a", "* b\n  * -> c")))
    assert reply.text.split("\n")[1:-1] == ["Date: Dec 4, 2025", "* a", "* b", "  * -> c"]
    for observations in (("* new",), ("* old", "* new")):
        reply = Scripted.echo().complete(ask("reflect", previous="* old", observations=observations))
        assert reply.text.split("\n")[1:-1] == ["* old", "* new"], observations


TEMPLATE = "- **Name**: what they are called\n- **Contact**: how to reach them"


class Bodies:
    def __init__(self, server):
        self.raw, begin = list[bytes](), server.begin

        def noting(request, headers, path):
            self.raw.append(json.dumps([request, headers, path], ensure_ascii=False).encode())
            return begin(request, headers, path)

        server.begin = noting


@pytest.fixture(params=["store", "model"])
def world(request, client, prefix, model, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    named = {"redaction__before": request.param, "redaction__key_env": "A_KEY", "working_memory__template": TEMPLATE}
    return World(client, prefix, model, observer__instruction=f"look for {ALL}", **named)


def _told(world, n):
    world.say(f"[[w1-{n}]] {ALL} password={PASSWORD}", metadata={"note": ALL})
    world.om.add_messages(
        [
            {"role": "assistant", "content": [{"type": "text", "text": f"[[w2-{n}]] {ALL}"}]},
            {
                "role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "t", "result": {"is": ALL}}],
            },
        ],
        thread_id="t-1",
        resource_id="harold",
    )
    world.om.add_line(f"by hand {ALL}", "harold", thread_id="t-1")
    world.om.pin(f"by hand {ALL}", "harold")
    world.om.update_working_memory({"Contact": f"{n} {ALL}"}, "harold")
    for ask in (lambda: world.om.force_observe("t-1", "harold"), lambda: world.om.force_reflect("harold", None)):
        ask()
        world.tick_forgiving()


def test_no_request_to_a_provider_holds_it(world, server):
    bodies = Bodies(server)
    for n in range(3):
        _told(world, n)
    assert {call.purpose for call in server.calls} == {"observe", "reflect"}
    assert any(b"[email" in body for body in bodies.raw)
    assert leaks(*bodies.raw) == []


def test_nor_does_what_is_told_of_an_error_that_quotes_it(world, server, caplog, capsys):
    bodies = Bodies(server)
    quoting = {"error": {"message": f"no: {ALL} password={PASSWORD}"}}
    server.plan = lambda n, purpose: Canned((400, 429, 500)[n % 3], quoting)
    with traced() as spans, caplog.at_level("DEBUG"):
        for n in range(2):
            _told(world, n)
        server.plan = lambda n, purpose: Behaviour.answer
        _told(world, 3)
    told = (spans.text(), caplog.text, *capsys.readouterr(), repr(world.om.events()), *bodies.raw)
    assert leaks(*told, *(entry.reason for entry in world.om.rejected("harold"))) == []
    assert world.settings.memory.redaction.before == "model" or leaks(store_bytes(world.client, world.prefix)) == []
