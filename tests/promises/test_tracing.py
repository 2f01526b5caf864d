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


def _only(spans, name, **ours):
    (span,) = spans.named(name, **ours)
    return span


def test_a_context_leads_back_over_generation_and_observations_to_each_push(client, prefix, told):
    world = World(client, prefix, observation_threshold="800", reflection__drain="false")
    _talk(world, lambda: world.om.generations("harold"))
    context = world.context()
    shown = context.reflection.n
    reading = told.named("om.context")[-1]

    reflecting = [span for span in told.linked(reading) if span.attributes["cortex_om.outcome"] == "reflected"]
    observing = [
        of for span in reflecting for of in told.linked(span) if of.attributes["cortex_om.outcome"] == "buffered"
    ]
    pushes = [of for span in observing for of in told.linked(span)]

    assert [span.attributes["cortex_om.generation"] for span in reflecting] == [shown]
    assert {span.attributes["cortex_om.chunk"] for span in observing} <= {*context.reflection.observation_ids}
    assert len(observing) >= 1
    assert {span.name for span in pushes} == {"om.push"}
    assert {span.attributes["cortex_om.resource"] for span in [reading, *reflecting, *observing, *pushes]} == {"harold"}


def test_each_push_of_a_chunk_is_found_from_its_observation(world, told):
    """Catches links to the last push of a thread, whatever chunk it is in."""
    world.say("one")
    world.say("two")
    world.tick()
    world.say("three")
    world.settle()
    (made,) = told.named("om.commit", outcome="buffered")
    pushed = told.named("om.push")
    context = world.context()

    assert told.linked(made) == pushed[:2]
    assert [message.traceparent for message in context.messages] == [_name(span) for span in pushed]


def test_an_observation_says_which_span_stored_it(world, told):
    _talk(world, lambda: world.om.observations("harold"))
    stored = {_name(span) for span in told.named("om.commit", outcome="buffered")}

    assert {one.traceparent for one in world.om.observations("harold")} <= stored
    assert told.linked(told.named("om.commit", outcome="activated")[0])[0].attributes["cortex_om.outcome"] == "buffered"


def test_a_call_of_a_model_is_told_by_the_names_that_everybody_has_for_it(world, told):
    world.say("one", "two")
    world.tick()
    asked = told.all()[[span.name.startswith("chat ") for span in told.all()].index(True)].attributes

    assert asked["gen_ai.operation.name"] == "chat"
    assert asked["gen_ai.request.model"] == world.model.name
    assert asked["gen_ai.response.model"]
    assert asked["cortex_om.purpose"] == "observe"


def test_no_word_of_what_was_said_noted_or_asked_is_in_a_span(client, prefix, told):
    world = World(client, prefix, observation_threshold="800", observer__instruction=f"look for {CANARY}")
    _talk(world, lambda: world.om.generations("harold"))
    world.om.recall(CANARY, "harold")
    world.context()
    world.om.sync([{"role": "user", "content": CANARY}], "harold", "t-9")

    assert CANARY in world.context().text
    assert len(told.named("om.recall")) == 1
    assert CANARY not in told.text()


def test_of_an_error_its_kind_is_told_and_nothing_that_it_says(client, prefix, told):
    failing = Scripted(*[ModelError(f"the key sk-{CANARY} is not valid", retryable=False, why="refused")] * 9)
    world = World(client, prefix, model=failing)
    world.say("one", "two")
    world.tick_forgiving()
    (asked, *_) = [span for span in told.all() if span.name.startswith("chat ")]

    assert asked.attributes["error.type"] == "refused"
    assert CANARY not in told.text()


def test_without_an_endpoint_nothing_is_written_for_it(client, prefix):
    """Catches a field that everybody pays for."""
    world = World(client, prefix)
    _talk(world, lambda: world.om.observations("harold"))
    members = [
        m for key in client.scan_iter(f"{prefix}*") if client.type(key) == b"zset" for m in client.zrange(key, 0, -1)
    ]

    assert len(members) > 0
    assert not [member for member in members if b"traceparent" in member]


def test_a_message_may_bring_the_span_of_its_own_turn(world, told):
    own = f"00-{7:032x}-{9:016x}-01"
    world.say("one", traceparent=own)
    world.say("two", traceparent="00-nonsense")
    world.settle()
    (made,) = told.named("om.commit", outcome="buffered")

    assert (made.links[0].context.trace_id, made.links[0].context.span_id) == (7, 9)
    assert told.linked(made) == told.named("om.push")[1:]


def _name(span):
    return f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-01"
