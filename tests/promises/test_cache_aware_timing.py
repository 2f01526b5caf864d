"""Activation heeds the prompt cache of the agent's model: it waits while that is warm, comes once it is cold, loses nothing."""

import time

import pytest
from world import World, contents, wait_until

from om_api import InvalidInputError

CACHED = {
    "prompt_cache__timing": "cache",
    "prompt_cache__minimum": "0",
    "prompt_cache__lifetime": "5m",
    "buffer_activation": "0.8",
}
_MINUTE = 60


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


def test_without_heed_to_the_cache_it_comes_at_the_threshold(client, prefix):
    world = World(client, prefix, **{**CACHED, "prompt_cache__timing": "threshold"})
    world.say(*[f"turn {n}" for n in range(10)])
    world.settle()
    world.context()

    assert observed(world) > 0


def test_once_the_cache_is_cold_what_is_ready_is_activated_and_the_floor_stays_raw(world):
    said = world.say(*[f"turn {n}" for n in range(6)], timestamp=ago(6 * _MINUTE))
    world.settle()

    assert observed(world) > 0
    assert len(world.context().messages) >= 200 / 100
    assert world.covering() == sorted(said)


def test_a_scope_that_waits_for_its_cache_is_looked_at_when_that_is_cold(client, prefix):
    world, began = World(client, prefix, **{**CACHED, "prompt_cache__lifetime": "5s"}), ago(0)
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    warm, ended = (observed(world), world.om.stats("harold").cache_cold_at), ago(0)
    wait_until(lambda: ago(0) > warm[1], "the cold")
    world.settle()

    assert warm[0] == 0
    assert began + 5_000 <= warm[1] <= ended + 5_001
    assert observed(world) > 0
    assert world.om.stats("harold").cache_cold_at == 0


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
    time.sleep(1.1)
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


def test_a_changed_actor_model_is_another_model(client, prefix):
    World(client, prefix, **CACHED, actor_model="gpt-5.2").context()
    world = World(client, prefix, **CACHED, actor_model="gpt-5.2")
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    world.context()
    changed = World(client, prefix, **CACHED, actor_model="claude-sonnet-4-6")
    before = observed(changed)
    changed.context()

    assert (before, observed(changed) > 0) == (0, True)


def test_an_agent_that_changes_between_two_models_has_both_caches_warm(world):
    world.say(*[f"turn {n}" for n in range(2)])
    world.settle()
    world.context(model="a")
    world.context(model="b")
    world.say(*[f"turn {n}" for n in range(2, 6)])
    world.settle()
    before = observed(world)
    for model in ("a", "b", "a"):
        world.context(model=model)

    assert observed(world) == before


def test_a_model_is_noted_once_and_not_with_each_context(world, client):
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    world.context(model="gpt-5.2")
    before = contents(client, f"{world.prefix}:*")
    world.context(model="gpt-5.2")

    assert contents(client, f"{world.prefix}:*") == before
    assert world.om.threads("harold")[0].model == "gpt-5.2"


def test_a_thread_that_nobody_wrote_to_leaves_nothing_behind_whatever_model_it_is_read_for(world, client):
    world.say("hello")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.context("never-said", model="gpt-5.2")
    world.om.clear("harold")

    assert [key for key in contents(client, f"{world.prefix}:{{harold}}:*") if b"thread:" in key] == []


def test_a_model_that_is_no_name_is_refused(world):
    with pytest.raises(InvalidInputError, match="model is 'two words': use the name"):
        world.context(model="two words")
