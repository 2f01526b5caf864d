"""`om stats`, `threads`: looking changes nothing and shows every tier, whoever else is broken."""

import pytest
from world import World, contents

from om_api.cli.output import as_time

LOOKS = [("stats",), ("stats", "harold"), ("threads", "harold"), ("observations", "harold"), ("history", "harold")]


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_looking_changes_nothing(om, reflected, client, prefix, look):
    before = contents(client, f"{prefix}*")
    om(*look)

    assert contents(client, f"{prefix}*") == before


def test_the_stats_of_a_resource_are_its_tiers(om_json, om, observed):
    stats = om_json("stats", "harold")

    assert stats["resource"] == "harold"
    assert stats["observations"] == len(observed.om.observations("harold")) > 0
    assert stats["message_tokens"] + stats["chunk_tokens"] + stats["observed_tokens"] == 1200
    assert "observation tokens" in om("stats", "harold").stdout


def _cold(om):
    (line,) = [line for line in om("stats", "harold").stdout.splitlines() if line.startswith(" cache cold at")]
    return line.strip().removeprefix("cache cold at").strip()


def test_when_the_prompt_cache_is_cold_is_a_time_and_a_dash_where_nothing_waits_for_it(om, om_json, client, prefix):
    cached = {"prompt_cache__timing": "cache", "prompt_cache__minimum": "0"}
    world = World(client, prefix, **cached)
    world.say("one")
    none = _cold(om)
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()

    assert none == "-"
    assert _cold(om) == as_time(om_json("stats", "harold")["cache_cold_at"]) != "-"


def test_the_stats_of_all_are_a_list(om_json, om, observed):
    observed.om.pause("someone-else")

    assert [stats["resource"] for stats in om_json("stats")] == ["harold", "someone-else"]
    assert "harold" in om("stats").stdout


def test_a_scope_that_is_not_the_configured_one_is_said(om, observed, monkeypatch):
    monkeypatch.setenv("OM_SCOPE", "thread")

    assert "om migrate-scope harold --to thread" in om("stats", "harold").stderr


def test_threads_say_what_is_not_yet_observed(om_json, om, world):
    world.say("one", "two", thread="t-1")
    world.say("three", thread="t-2")

    assert [(each["id"], each["messages"]) for each in om_json("threads", "harold")] == [("t-1", 2), ("t-2", 1)]
    assert "t-2" in om("threads", "harold").stdout


@pytest.mark.parametrize(
    ("task", "at", "shown"), [("mend", 1763600000000, True), ("", 1763600000000, False), ("mend", 10**17, False)]
)
def test_threads_say_of_which_time_a_task_is(om_json, om, world, task, at, shown):
    world.say("one")
    said = {"current_task": task, "current_task_at": at, "current_task_from": "m-1"}
    world.client.hset(f"{world.prefix}:{{harold}}:thread:t-1", mapping=said)
    (state,) = om_json("threads", "harold")

    assert {name: state[name] for name in said} == said
    assert ("2025-11-20" in om("threads", "harold").stdout) is shown


SPOILS = {
    "of another type": lambda client, own: (client.delete(own + ":rejected"), client.set(own + ":rejected", "oops")),
    "a name that is no text": lambda client, own: client.zadd(own + ":threads", {b"\xff": 1}),
    "a count that is none": lambda client, own: client.hset(own + ":tokens", "#t-1", "abc"),
    "a count beyond all numbers": lambda client, own: client.hset(own + ":tokens", "#t-1", "9" * 5000),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_the_stats_of_all_name_one_that_is_broken_and_show_every_other(om, world, client, prefix, spoil):
    """Catches a writer whose key of another type, or with other bytes, ended `om stats` for everybody."""
    for name in ("ada", "harold", "zoe"):
        world.say("hello", resource=name)
        client.zadd(world.services.keys.resources, {name: 1})
    SPOILS[spoil](client, f"{prefix}:{{harold}}")
    result = om("stats")

    assert result.exit_code == 0
    assert [name for name in ("ada", "harold", "zoe") if name in result.stdout] == ["ada", "zoe"]
    assert "broken: harold" in result.stderr
