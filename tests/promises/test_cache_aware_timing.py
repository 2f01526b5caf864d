"""Activation heeds the prompt cache of the agent's model: it waits while that is warm, comes once it is cold, loses nothing."""

import time

import pytest
from world import World, wait_until

CACHED = {"prompt_cache__timing": "cache", "prompt_cache__minimum": "0", "prompt_cache__lifetime": "5m",
    "buffer_activation": "0.8"}  # fmt: skip


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, **CACHED)


def observed(world):
    return len(world.om.observations("harold"))


def ago(seconds):
    return int((time.time() - seconds) * 1000)


def test_while_the_cache_is_warm_activation_waits_above_the_threshold_and_comes_at_block_after(world):
    said = world.say(*[f"turn {n}" for n in range(11)])
    world.settle()
    world.context()
    waiting = observed(world)
    said += world.say("turn 11")
    assert waiting == 0
    assert len(world.context().messages) < len(said)
    assert observed(world) > 0
    assert world.covering() == sorted(said)


def test_no_message_leaves_a_context_while_what_stands_for_it_is_ready_and_waits(client, prefix):
    """A block_after beyond what a context shows: catches a warm cache that has messages left out of it."""
    world = World(client, prefix, **CACHED, block_after="4")
    left_out = []
    for n in range(34):
        world.say(f"turn {n}")
        world.settle()
        left_out.append(world.context().omitted)
    assert not any(left_out)


def test_a_reader_whose_actor_spoke_last_before_a_pause_activates_on_the_way(client, prefix):
    """No worker came while the cache grew cold: what the user says then is the first activity, and counts for none."""
    world = World(client, prefix, **CACHED)
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    world.client.hset(f"{prefix}:{{harold}}:tokens", "*wake", "9999")
    late = World(client, prefix, **{**CACHED, "prompt_cache__lifetime": "1s"})
    late.om.get_context("t-1", "harold")
    recorded = client.hget(f"{prefix}:{{harold}}:record", "limits").replace(b":300000,", b":1000,")
    client.hset(f"{prefix}:{{harold}}:record", "limits", recorded)
    cold = ago(-1.1)
    wait_until(lambda: ago(0) > cold, "the cold")
    late.say("back again")
    late.context()
    assert observed(late) > 0


def test_the_first_context_for_another_model_takes_along_what_is_ready(world):
    said = world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    world.context(model="claude-sonnet-4-6")
    world.context(model="claude-sonnet-4-6")
    same = observed(world)
    world.context(model="gpt-5.2")
    assert same == 0
    assert observed(world) > 0
    assert world.covering() == sorted(said)
    world.context("never-said", model="gpt-5.2")
    world.om.clear("harold")
    assert not world.client.keys(f"{world.prefix}:{{harold}}:*thread:*")


def test_an_agent_that_changes_between_two_models_has_both_caches_warm(world):
    for turns in (2, 4):
        world.say(*[f"turn {turns} {n}" for n in range(turns)])
        world.settle()
        before = observed(world)
        for model in "aba":
            world.context(model=model)
    assert observed(world) == before
