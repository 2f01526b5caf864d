"""What became of a message can be followed by the links of spans, from a context back to its push; no word of it is told."""

import pytest
from traced import traced
from world import World

from om_api.domain.errors import ModelError
from om_workers.llm.scripted import Scripted

CANARY = "zebrafinch"


@pytest.fixture
def told():
    with traced() as spans:
        yield spans


def _talk(world, until):
    for n in range(60):
        world.say(f"{CANARY} {n}")
        world.tick()
        if until():
            return
    raise AssertionError("it never came to that")


def test_a_context_leads_back_over_generation_and_observations_to_each_push(client, prefix, told):
    limits = {"message_threshold": "500", "observation_threshold": "300", "reflection__drain": "false"}
    world = World(client, prefix, **limits)
    _talk(world, lambda: world.om.generations("harold"))
    context = world.context()
    reading = told.named("om.context")[-1]
    reflecting = [span for span in told.linked(reading) if span.attributes["cortex_om.outcome"] == "reflected"]
    linked = [of for span in reflecting for of in told.linked(span)]
    observing = [of for of in linked if of.attributes["cortex_om.outcome"] == "buffered"]
    pushes = [of for span in observing for of in told.linked(span)]
    assert [span.attributes["cortex_om.generation"] for span in reflecting] == [context.reflection.n]
    assert {span.attributes["cortex_om.chunk"] for span in observing} <= {*context.reflection.observation_ids}
    assert len(observing) >= 1
    assert {span.name for span in pushes} == {"om.push"}
    assert {span.attributes["cortex_om.resource"] for span in [reading, *reflecting, *observing, *pushes]} == {"harold"}


def test_no_word_of_what_was_said_noted_or_asked_is_in_a_span(client, prefix, told):
    limits = {"message_threshold": "500", "observation_threshold": "300", "reflection__drain": "false"}
    world = World(client, prefix, **limits, observer__instruction=f"look for {CANARY}")
    _talk(world, lambda: world.om.generations("harold"))
    world.om.recall(CANARY, "harold")
    world.context()
    world.model = Scripted(ModelError(f"the key sk-{CANARY} is not valid", retryable=False, why="refused"))
    world.say(f"{CANARY} again")
    world.om.force_observe("t-1", "harold")
    world.tick_forgiving()
    asked = [span.attributes for span in told.all() if span.name.startswith("chat ")]
    assert {"observe", "reflect"} <= {each["cortex_om.purpose"] for each in asked}
    assert asked[0]["gen_ai.operation.name"] == "chat"
    assert "refused" in {each.get("error.type") for each in asked}
    assert CANARY in world.context().text
    assert len(told.named("om.recall")) == 1
    assert CANARY not in told.text()
