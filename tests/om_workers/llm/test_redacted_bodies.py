"""With redaction on, no body that a real SDK sends holds what was planted, nor what is told of an error that quotes it."""

import json

import pytest
from model_server import Behaviour, Canned
from planted import ALL, KEY, PASSWORD, leaks, store_bytes
from traced import traced
from world import World

TEMPLATE = "- **Name**: what they are called\n- **Contact**: how to reach them"


class Bodies:
    """Every request that the server got, whole."""

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


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_nor_does_what_is_told_of_an_error_that_quotes_it(world, server, status, caplog, capsys):
    bodies = Bodies(server)
    server.plan = lambda n, purpose: Canned(status, {"error": {"message": f"no: {ALL} password={PASSWORD}"}})
    with traced() as spans, caplog.at_level("DEBUG"):
        for n in range(2):
            _told(world, n)
        server.plan = lambda n, purpose: Behaviour.answer
        _told(world, 3)

    told = (spans.text(), caplog.text, *capsys.readouterr(), repr(world.om.events()), *bodies.raw)
    assert leaks(*told, *(entry.reason for entry in world.om.rejected("harold"))) == []
    assert world.settings.memory.redaction.before == "model" or leaks(store_bytes(world.client, world.prefix)) == []
