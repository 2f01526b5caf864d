"""om top and om mcp."""

import time

import pytest
from click.testing import CliRunner

from om_api.cli import main
from om_api.cli.commands import mcp
from om_api.domain.api_keys import Role


@pytest.fixture
def three(world):
    """Three agents: albert's window is the fullest, berta costs most, and clara spoke last and is due."""
    world.say(*["x"] * 5, resource="albert", tokens=100)
    world.say("x", resource="berta", tokens=50)
    world.say("x", resource="clara", tokens=60)
    world.settle()
    now = int(time.time() * 1000)
    base = f"{world.prefix}:resources"
    world.client.zadd(base, {"albert": now, "berta": now - 1, "clara": now - 2})
    day = time.strftime("%Y-%m-%d", time.gmtime())
    world.client.hset(
        f"{world.prefix}:spent:{day}:berta", mapping={"all|micros": 2_000_000, "scripted|observe|micros": 2_000_000}
    )
    world.client.expire(f"{world.prefix}:spent:{day}:berta", 1000)
    world.client.zadd(f"{world.prefix}:due:observe", {"clara": now - 7_000})
    world.client.zadd(f"{world.prefix}:{{clara}}:threads", {"t-1": now + 3_600_000})
    return world


def test_the_agent_with_most_of_it_comes_first(om_json, three):
    for order, first in {"pressure": "albert", "cost": "berta", "lag": "clara", "activity": "clara"}.items():
        found = om_json("top", "--sort", order)
        assert (found["items"][0]["resource"], found["known"], found["complete"]) == (first, 3, True), order


def test_an_empty_store_has_nobody_to_show(om):
    result = om("top", "--once")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no worker has met" in result.stderr


@pytest.fixture
def served(monkeypatch, own_store):
    started = []

    async def serve(settings, caller):
        started.append((settings, caller))

    monkeypatch.setattr(mcp, "serve", serve)
    monkeypatch.setattr(mcp, "log_to_stderr", lambda **_: None)
    return started


def run(*words):
    return CliRunner().invoke(main, ["mcp", *words])


def test_it_serves_everything_unless_it_is_told_less(served, prefix):
    assert run().exit_code == 0
    ((settings, caller),) = served
    assert settings.prefix == prefix
    assert (caller.key.role, caller.key.resources, caller.said) == (Role.OPERATOR, ("*",), {})


def test_what_is_named_is_meant_and_no_other_is_reached(served):
    assert run("--resource", "harold", "--thread", "t-1", "--role", "reader").exit_code == 0
    ((_, caller),) = served
    assert (caller.key.role, caller.key.resources) == (Role.READER, ("harold",))
    assert caller.said == {"resource_id": "harold", "thread_id": "t-1"}


def test_what_cannot_be_is_refused_in_a_line(served):
    for words in (("--resource", "a*b"), ("--resource", ""), ("--thread", ".."), ("--role", "king")):
        done = run(*words)
        assert (done.exit_code, done.stdout, served) == (2, "", []), words
        assert ("is not an id" if words[0] != "--role" else "'king' is not one of") in done.stderr, words
