"""A client that read a thread before says what a new one says, whatever other clients did meanwhile.

Each case showed something else once: values that are equal and written differently, a thread that was cleared, a scope that
was migrated and then cleared.
"""

import json

import pytest

from om_api import Message, ObservationalMemory
from om_api.domain.values import Scope
from om_api.store.memory import seal
from om_bench.harness.pipeline import pipeline

AT = 1_763_600_000_000


@pytest.fixture(scope="module")
def running():
    with pipeline(None) as made:
        yield made


@pytest.fixture
def reader(running):
    running.om.clear("bench")
    with ObservationalMemory(running.om.settings, tally=False) as om:
        yield om


def said(n, content, thread="t1", role="user"):
    return Message(
        id=f"m{n}", role=role, content=content, thread_id=thread, resource_id="bench", timestamp=AT + n, tokens=10
    )


def shown(om):
    context = om.get_context("t1", "bench")
    return context.text, repr(context.as_openai()), repr(context.as_anthropic()), repr(context.as_gemini())


def says_what_a_new_one_says(reader):
    with ObservationalMemory(reader.settings, tally=False) as new:
        return shown(reader) == shown(new)


def talk(value):
    call = [{"type": "tool-call", "tool_call_id": "a", "name": "look", "args": {"q": value}}]
    result = [{"type": "tool-result", "tool_call_id": "a", "result": value}]
    return [said(1, "hi"), said(2, call, role="assistant"), said(3, result, role="tool"),
        said(4, call, "t2", "assistant")]  # fmt: skip


def test_what_is_equal_and_written_differently(running, reader):
    for before, after in ((1, True), (1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})):
        running.om.clear("bench")
        running.om.add_messages(talk(before))
        shown(reader)
        running.om.clear("bench")
        running.om.add_messages(talk(after))
        assert says_what_a_new_one_says(reader), (before, after)


def test_another_thread_that_was_cleared_and_written_to_plainly(running, reader):
    running.om.add_messages([said(1, "hi"), said(2, "there", "t2")])
    shown(reader)
    running.om.clear("bench", "t2")
    member = json.dumps({"id": "m5", "role": "user", "content": "uncounted"})
    running.om._connection.client.zadd("om-bench:{bench}:messages:t2", {member: AT + 5})
    assert says_what_a_new_one_says(reader)


def test_a_memory_that_was_migrated_and_then_cleared(running, reader):
    running.om.add_messages([said(1, "hi")])
    running.end_session("t1", "bench")
    running.om.migrate_scope("bench", "thread")
    shown(reader)
    running.om.clear("bench")
    running.om.add_messages([said(2, "hi"), said(3, "there", "t2")])
    assert says_what_a_new_one_says(reader)


def test_copies_of_another_threads_sealed_messages_that_were_written_anew(running, reader):
    """Breaks when a chunk counts with all its messages where its thread was not known beforehand, else with the newest."""
    running.om.add_messages([said(0, "hi"), said(0, "by", "t3"), *(said(n, f"no {n}", "t2") for n in range(1, 11))])
    client, keys = running.om._connection.client, running.om._core.keys
    members = client.zrange(keys.of("bench").messages("t2"), 0, -1)
    running.om._connection.run(seal.seal(keys, Scope("bench"), "", "t2", members, 100))
    running.om.add_messages([said(20, "more", "t2")])
    shown(reader)
    running.om.clear("bench", "t3")  # what was held is read again
    shown(reader)
    client.zadd(keys.of("bench").messages("t2"), {members[8]: AT - 9, members[9]: AT - 8})
    assert says_what_a_new_one_says(reader)
