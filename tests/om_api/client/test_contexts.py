"""Contexts of a client: their hooks, token limits and warnings about settings."""

import asyncio
import threading
import time
from types import SimpleNamespace

import msgspec
import pytest
import structlog
from configured import Folder
from hook_house import hooked
from structlog.testing import capture_logs
from world import SMALL, World

from om_api import AsyncObservationalMemory, InvalidInputError, Message, ObservationalMemory, load_settings
from om_api.client import hooking
from om_api.client.core import Core
from om_api.client.remembered import reader_cache


def test_a_hook_is_given_notes_what_closes_them_and_the_newest_message(client, prefix, hook_house):
    given = []
    hook_house.install(looks=given.append)
    world = World(client, prefix, **hooked("before_context", "looks"))
    world.context()
    world.say("hello", "and now?")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.say("what else?")
    context = world.context()

    empty, full = given
    assert (empty["notes"], empty["closing"], empty["message"]) == ("", "", None)
    assert (full["point"], full["resource"], full["thread"]) == ("before_context", "harold", "t-1")
    assert full["notes"] == context.system
    assert full["closing"] == context.blocks[-1].text
    assert full["message"]["content"] == "what else?"


def test_a_failure_is_logged_once_an_hour_without_a_word_of_what_was_said(client, prefix, hook_house, monkeypatch):
    hook_house.install(leaks=lambda given: {}[given["message"]["content"]])
    world = World(client, prefix, **hooked("before_context", "leaks"))
    world.say("my secret")
    later = time.monotonic() + 3_700
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            world.context()
        monkeypatch.setattr(hooking, "time", SimpleNamespace(monotonic=lambda: later))
        world.context()

    said = {"point": "before_context", "hook": "leaks", "why": "error", "agent": "harold"}
    assert lines == [{"event": "hook_failed", "log_level": "warning", **said}] * 2


def test_an_event_loop_goes_on_while_a_hook_thinks(client, server_url, prefix, hook_house):
    go_on = threading.Event()
    hook_house.install(slow=lambda _: {"add": str(go_on.wait(5))})
    hooks = hooked("before_context", "slow", timeout=10)
    settings = World(client, prefix, redis_url=server_url, **hooks).settings

    async def both():
        async with AsyncObservationalMemory(settings) as memory:
            asked = asyncio.create_task(memory.get_context("t-1", "harold"))
            await asyncio.sleep(0.05)
            go_on.set()
            return await asked

    assert "True" in asyncio.run(both()).text


@pytest.fixture
def contexts():
    return Core(load_settings(None, SMALL), len, fails_open=True).contexts


def said(text, thread="t-1", name="m-1"):
    return Message(role="user", content=text, id=name, thread_id=thread, resource_id="harold", timestamp=1.7e12, at=1)


def test_without_a_store_a_context_is_bounded_as_well(contexts):
    waiting = [Message(**{**msgspec.structs.asdict(said("x", name=f"m-{n}")), "tokens": 100}) for n in range(30)]
    found = contexts.without_store("harold", "t-1", waiting, None)

    assert (found.omitted, len(found.messages)) == (10, 20)
    assert contexts.without_store("harold", "t-1", waiting, 100_000).omitted == 0


def test_what_is_no_number_of_tokens_is_refused(client, prefix):
    """Catches a TypeError of ours for the word that the setting takes."""
    for given in ("auto", 1.5, "1000", 0, -5, True):
        with pytest.raises(InvalidInputError, match=r"max_tokens is .*: use a number of tokens from 1 on"):
            World(client, prefix).om.get_context("t-1", "harold", max_tokens=given)


def test_an_agent_is_warned_once_of_its_own_file_and_of_nobody_elses(client, prefix, tmp_path):
    """Catches a mistyped key that is told to workers and operators alone."""
    folder = Folder(tmp_path)
    own = folder.agent("har*", "observational_memory: {mesage_threshold: 5}")
    folder.agent("ada", "observational_memory: [")
    folder.agent("zoe", "observational_memory: {ttl_days: 5}")
    with ObservationalMemory(folder.load(OM_PREFIX=prefix), client=client) as om, capture_logs() as lines:
        for _ in range(2):
            for resource in ("harold", "zoe"):
                om.add_message({"role": "user", "content": "hi"}, thread_id="t-1", resource_id=resource)
            om.get_context("t-1", "harold")

    (line,) = lines
    assert (line["event"], line["log_level"], line["file"]) == ("settings_problem", "warning", str(own))
    assert line["problem"].startswith("line 1: mesage_threshold is not a setting; did you mean message_threshold?")


def test_a_context_of_a_backlog_is_what_it_would_be_were_all_of_it_read(client, prefix, monkeypatch):
    """Catches a window of messages that ends before the context is full, and a cut that goes on with every message."""
    world = World(client, prefix)
    whole, some = (ObservationalMemory(world.settings, client=client) for _ in range(2))
    asked = {"resource_id": "harold", "thread_id": "t-1"}
    world.say("hello", tokens=80)
    whole.get_context(**asked)  # which reads 256 messages from now on
    monkeypatch.setattr(reader_cache, "NEWEST", 4)
    for n in range(50):
        world.say(f"message {n}", tokens=160)
        assert whole.get_context(**asked).blocks == some.get_context(**asked).blocks, n
    for cap in [None, 350, 1_500, 20_000]:
        read = [om.get_context(**asked, max_tokens=cap) for om in (whole, some)]
        assert (read[0].blocks, read[0].omitted) == (read[1].blocks, read[1].omitted), cap
        assert read[0].omitted or cap == 20_000, cap
