"""Snapshots with something in them, and contexts made of them."""

from datetime import UTC, datetime

from om_api.context import View, build
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Generation, Observation, Record, Scope, Stored, ThreadState

NOON = int(datetime(2025, 12, 30, 12, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000


def count(text):
    return len(text.split())


def said(text, at=NOON, role="user", **fields):
    return Message(role=role, content=text, at=at, **fields)


def observed(seq, text="Date: Dec 4, 2025\n* 🔴 (14:30) A fact", thread="t1", activation="a1"):
    found = Observation(id=f"o{seq}", thread_id=thread, activation=activation, text=text)
    return Stored(seq, found, b"")


def snapshot(messages=(), observations=(), scope=None, thread=None, **fields):
    return Snapshot(
        scope=scope or Scope("harold"),
        thread=thread or ThreadState(id="t1"),
        record=Record(),
        messages=list(messages),
        chunks=[],
        observations=list(observations),
        **fields,
    )


def context(read, now=NOON, max_tokens=None, unavailable=False, **view):
    return build(read, View(**view), count, now, max_tokens, unavailable=unavailable)


def full(text="hello", task="Primary: ship it"):
    """A snapshot with something in every place a context has."""
    return snapshot(
        [said(text), said(text, NOON + 1, "assistant")],
        [observed(1, text), observed(2, text, "t2"), observed(3, text, activation="a2")],
        thread=ThreadState(id="t1", current_task=task, suggested_response=text, suggested_response_at=NOON + 2),
        generation=Generation(n=1, text=text),
        others={"t2": [said(text)]},
        other_counts={"t2": 5},
    )


def kinds(made):
    return [block.kind for block in made.blocks]


def volatile(made):
    return "".join(block.text for block in made.blocks if block.kind == "volatile")
