"""Hooks of contexts: what they are given, what is told where they fail, and how an agent's hooks are doing."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest
import structlog
from hook_house import hooked, hooks_installed
from world import World

from om_api import AsyncObservationalMemory
from om_api.client import hooking
from om_api.domain.errors import HookError
from om_api.domain.webhooks import signing


@pytest.fixture
def house(monkeypatch):
    with hooks_installed(monkeypatch) as one:
        one.install_bad()
        yield one


def test_a_hook_is_given_notes_what_closes_them_and_the_newest_message(client, prefix, house):
    given = []
    house.install(looks=given.append)
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


def test_what_is_added_stands_in_a_context_that_nothing_else_would_close(client, prefix, house):
    house.install(weather=lambda _: {"add": "It rains."})
    world = World(client, prefix, **hooked("before_context", "weather"))

    (block,) = world.context().blocks
    assert (block.kind, "It rains." in block.text) == ("volatile", True)


def test_a_failure_is_logged_once_an_hour_without_a_word_of_what_was_said(client, prefix, house, monkeypatch):
    house.install(leaks=lambda given: {}[given["message"]["content"]])
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


def test_an_event_loop_goes_on_while_a_hook_thinks(server_client, server_url, prefix, house):
    go_on = threading.Event()
    house.install(slow=lambda _: {"add": str(go_on.wait(5))})
    settings = World(
        server_client, prefix, redis_url=server_url, **hooked("before_context", "slow", timeout=10)
    ).settings

    async def both():
        async with AsyncObservationalMemory(settings) as memory:
            asked = asyncio.create_task(memory.get_context("t-1", "harold"))
            await asyncio.sleep(0.05)
            go_on.set()
            return await asked

    assert "True" in asyncio.run(both()).text


def test_a_store_that_is_away_asks_no_hook(client, prefix, house, monkeypatch):
    house.install(stops=lambda _: 1 / 0)
    world = World(client, prefix, **hooked("before_context", "stops", on_failure="stop"))
    om = type(world).face(world.settings, client=client, fail_open=True)

    with pytest.raises(HookError):
        om.get_context("t-1", "harold")


def test_an_agents_hooks_are_listed_point_by_point_with_where_they_run(client, prefix, house, monkeypatch):
    monkeypatch.setenv("HOOK_THERE", signing.new_secret())
    urls = [
        {"url": f"https://{name}.example.org/k", "secret_env": f"HOOK_{name.upper()}"} for name in ("there", "gone")
    ]
    settings = {**hooked("before_context", "missing"), **hooked("before_observe", "raises", on_failure="stop")}
    world = World(client, prefix, hooks__after_reflect=str(urls), **settings)

    assert [(each.point, each.name, each.kind, each.runs_in, each.ready) for each in world.om.hooks("harold")] == [
        ("before_observe", "raises", "entry_point", "worker", True),
        ("after_reflect", "there.example.org", "url", "worker", True),
        ("after_reflect", "gone.example.org", "url", "worker", False),
        ("before_context", "missing", "entry_point", "client", False),
    ]
    assert (world.om.hooks("harold")[0].on_failure, world.om.hooks("harold")[0].timeout) == ("stop", 0.3)


def test_a_hook_whose_variable_holds_no_secret_is_not_ready(monkeypatch):
    from om_api.client.hooking import is_ready
    from om_api.domain.webhooks.hook import Hook

    monkeypatch.setenv("HOOK_SECRET", "abc")
    assert not is_ready(Hook(url="https://hooks.example.org", secret_env="HOOK_SECRET"))
