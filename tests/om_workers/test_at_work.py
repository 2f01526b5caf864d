"""A house at work: what workers ask, what they note, and what it costs."""

import re

import pytest
from world import World

from om_workers.llm.scripted import Scripted
from om_workers.prompts.library import prompt

_BASE = """
observational_memory: {message_threshold: 1000, observation_threshold: 4000, min_recent_messages: 0, tokenizer: estimate}
"""
_AGENTS = {"harold": "Pacific/Kiritimati", "albert": "Pacific/Niue"}  # UTC+14 and UTC-11: never the same day


@pytest.fixture
def world(client, prefix, tmp_path):
    (tmp_path / "observational-memory.yaml").write_text(_BASE)
    for agent, zone in _AGENTS.items():
        folder = tmp_path / "agents" / agent
        folder.mkdir(parents=True)
        (folder / "memory.yaml").write_text(f"observational_memory: {{timezone: {zone}}}")
    return World(client, prefix, config_dir=tmp_path)


def _seen(world, agent):
    """What a message of one moment became for an agent: the Observer's date line, and the context's words for that day."""
    world.say("it is now", resource=agent, timestamp="2026-03-01T10:30:00Z")
    world.om.force_observe("t-1", agent)
    world.settle()
    (shown,) = re.findall(r"^(\w{3} \d+ \d{4}):$", world.model.requests[-1].prompt, re.MULTILINE)
    (note,) = world.om.observations(agent)
    return shown, note.text.partition("\n")[0], world.context(resource=agent).text


def test_the_same_moment_is_another_day_for_agents_of_other_zones(world):
    """Half past ten in the morning of March 1 in UTC is March 2 on one side of the date line, February 28 on the other."""
    east, west = (_seen(world, agent) for agent in _AGENTS)
    assert [seen[0] for seen in (east, west)] == ["Mar 2 2026", "Feb 28 2026"]
    assert [seen[1] for seen in (east, west)] == ["Date: Mar 2, 2026", "Date: Feb 28, 2026"]
    assert all(f"({_AGENTS[agent]})" in seen[2] for agent, seen in zip(_AGENTS, (east, west), strict=True))
    assert "Date: Mar 2, 2026" in east[2]
    assert "Date: Feb 28, 2026" in west[2]


def test_observer_and_reflector_are_asked_with_the_prompts_that_their_settings_name(client, prefix):
    world = World(client, prefix, observer__prompt="condensed", reflection__prompt="legacy", thread_titles="false")
    world.model = Scripted.echo()
    for n in range(6):
        world.say(f"message {n} " + "x" * 400)
    world.om.force_observe(resource_id="harold")
    world.settle()
    world.om.force_reflect("harold")
    world.reflector().reflect("harold")
    asked = {request.purpose: request.system for request in world.model.requests}
    assert asked == {"observe": prompt("observer", "condensed"), "reflect": prompt("reflector", "legacy")}
