"""An agent's settings choose what its Observer and its Reflector are asked."""

import pytest
from world import World

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_workers.llm.scripted import Scripted
from om_workers.prompts.library import prompt


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


@pytest.mark.parametrize("role", ["OBSERVER", "REFLECTION"])
def test_a_variant_that_does_not_exist_is_refused_by_the_settings_with_what_there_is(role):
    with pytest.raises(SettingsError, match="default, condensed or legacy"):
        load_settings(environ={f"OM_{role}__PROMPT": "own"})
