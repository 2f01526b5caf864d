"""P1 to P3: each accepted message is covered exactly once, by set membership and not by time, and no observation is lost."""

import pytest
from world import World


def test_every_message_is_covered_exactly_once_at_every_look(world):
    said = []
    for n in range(30):
        said += world.say(f"message {n}")
        assert world.covering() == sorted(said)
        world.tick()
        assert world.covering() == sorted(said)
        context = world.context()
        text, raw = context.text, [message.id for message in context.messages]
        assert all((name in raw) + text.count(f"[{name}]") == 1 for name in said)
    assert len(world.om.observations("harold")) > 3


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_coverage_holds_through_generations_in_both_scopes(client, prefix, scope):
    limits = {"message_threshold": "500", "observation_threshold": "200", "reflection__drain": "false"}
    world, said = World(client, prefix, scope=scope, **limits), []
    for n in range(40):
        said += world.say(f"message {n}", thread=f"t-{n % 2}")
        world.tick()
    world.settle()
    assert world.covering() == sorted(said)
    assert world.om.generations("harold", "t-1" if scope == "thread" else None)


def test_every_stored_observation_stays_until_a_generation_names_it(client, prefix):
    limits = {"message_threshold": "400", "observation_threshold": "150", "reflection__drain": "false"}
    world, stored = World(client, prefix, **limits), set()
    for n in range(40):
        world.say(f"message {n}")
        world.tick()
        live = {observation.id for observation in world.om.observations("harold")}
        reflected = {name for generation in world.om.generations("harold") for name in generation.observation_ids}
        stored |= live
        assert stored == live | (stored & reflected)
    assert len(world.om.generations("harold")) >= 2


def test_what_a_generation_replaced_can_still_be_read_with_its_sources(world):
    said = world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    world.reflect_now()
    (era,) = world.om.history("harold")
    assert era.generation.observation_ids == tuple(observation.id for observation in era.replaced)
    sources = [message.id for observation in era.replaced for message in world.om.sources(observation.id, "harold")]
    assert sources == said[: len(sources)]


_YEAR_MS = 31_536_000_000


@pytest.mark.parametrize("shift", [-_YEAR_MS, 0, _YEAR_MS])
def test_a_message_older_or_newer_than_everything_observed_is_observed(world, shift):
    """Catches a cursor: with `last observed at` the late message would count as seen and never reach an observation."""
    at = 1_790_000_000_000
    world.say(*[f"message {n}" for n in range(12)], timestamp=at)
    world.settle()
    assert world.om.observations("harold")
    cursor = max(observation.to for observation in world.om.observations("harold"))
    (late,) = world.say("the late one", timestamp=at + shift)
    assert shift > 0 or at + shift <= cursor  # `newer than what was observed` would pass it over
    assert late in [message.id for message in world.context().messages]
    world.observe_now()
    assert f"[{late}]" in world.context().text


def test_messages_of_one_millisecond_are_told_apart(world):
    said = world.say(*[f"message {n}" for n in range(30)], timestamp=1_790_000_000_000)
    world.settle()
    assert world.covering() == sorted(said)


def test_a_message_that_comes_while_its_neighbours_are_observed_stays_raw(world):
    """Catches `cursor = now` after an observation: what came while the model thought would be skipped."""
    world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform(*world.next_task())
    (late,) = world.say("while the model thinks", timestamp="1999-12-31")
    world.work()
    assert late in [message.id for message in world.context().messages]
