"""Turns of a talk, and what each provider is sent of them."""

from om_api.context import View, build
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Generation, Observation, Record, Scope, Stored, ThreadState

NOW = 1_767_096_000_000
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def text(words):
    return {"type": "text", "text": words}


def call(name, args=None, **fields):
    return {"type": "tool-call", "tool_call_id": name, "name": f"look_{name}", "args": args or {}, **fields}


def result(name, value="found", **fields):
    return {"type": "tool-result", "tool_call_id": name, "name": f"look_{name}", "result": value, **fields}


def context(*turns, activations=0, reflected=False, task=""):
    messages = [
        Message(role=role, content=content, at=NOW + i, name=name[0] if name else None)
        for i, (role, content, *name) in enumerate(turns)
    ]
    observations = [
        Observation(id=f"o{i}", thread_id="t1", activation=f"a{i}", text=f"fact {i}") for i in range(activations)
    ]
    read = Snapshot(
        scope=Scope("harold"),
        thread=ThreadState(id="t1", current_task=task),
        record=Record(),
        messages=messages,
        chunks=[],
        observations=[Stored(float(i), found, b"") for i, found in enumerate(observations)],
        generation=Generation(n=1, text="long ago") if reflected else None,
    )
    return build(read, View(), len, NOW)


def openai(*turns):
    return context(*turns).as_openai()


def anthropic(*turns):
    return context(*turns).as_anthropic()["messages"]


def gemini(*turns):
    return context(*turns).as_gemini()["contents"]
