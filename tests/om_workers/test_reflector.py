"""When the Reflector thinks, what it covers, and what it leaves."""

from __future__ import annotations

import pytest
from world import World

from om_api.errors import ModelError
from om_workers.llm.scripted import Scripted


def _fill(world, messages, **options):
    for n in range(messages):
        world.say(f"message {n} " + "x" * 40, **options)
        world.tick()


def test_a_draft_is_thought_at_half_the_threshold_and_committed_at_the_threshold(client, prefix):
    world = World(client, prefix, observation_threshold="800", reflection__drain="false")
    drafts, generations = [], []
    for n in range(60):
        world.say(f"message {n}")
        world.tick()
        drafts.append(bool(client.exists(f"{prefix}:{{harold}}:draft")))
        generations.append(len(world.om.generations("harold")))
        if generations[-1]:
            break

    assert any(drafts[: generations.index(1)])
    assert not drafts[-1]
    (era,) = world.om.history("harold")
    assert era.replaced
    assert world.om.observations("harold")  # what came after the draft stays


def test_a_draft_is_dropped_when_what_it_covers_is_forgotten(client, prefix):
    world = World(client, prefix, observation_threshold="2000", reflection__drain="false")
    while not client.exists(f"{prefix}:{{harold}}:draft"):
        _fill(world, 1)
    world.om.forget(world.om.observations("harold")[0].id, "harold")

    assert not client.exists(f"{prefix}:{{harold}}:draft")


@pytest.mark.parametrize(
    "answer", ["", "<observations>\n</observations>", ("* loop of a line that repeats itself\n" * 400)]
)
def test_an_empty_or_looping_reflection_never_changes_the_memory(world, answer):
    _fill(world, 12)
    world.settle()
    before = world.om.observations("harold")
    world.model = Scripted(*[answer] * 10)
    world.om.force_reflect("harold")

    with pytest.raises(ModelError, match="stays as it is"):
        world.reflector().reflect("harold")
    assert world.om.observations("harold") == before
    assert world.om.generations("harold") == []


def test_a_reflection_that_grows_is_asked_for_again_and_the_smallest_answer_is_kept(world):
    _fill(world, 12)
    world.settle()
    answers = ["\n".join(f"* fact {line} of {lines}" for line in range(lines)) for lines in (500, 400, 300, 450)]
    world.model = Scripted(*[f"<observations>\n{answer}\n</observations>" for answer in answers])
    world.om.force_reflect("harold")
    world.reflector().reflect("harold")

    assert [request.level for request in world.model.requests] == [0, 1, 2, 3]
    (generation,) = world.om.generations("harold")
    assert generation.level == 2


def test_a_drain_observes_what_is_raw_first_but_for_the_newest_turns(client, prefix):
    world = World(client, prefix, observation_threshold="500", reflection__drain="true", min_recent_messages="2")
    seen = []
    for n in range(60):
        world.say(f"message {n}", thread=f"t-{n % 2}")
        world.tick()
        if world.om.generations("harold"):
            break
        seen.append(float(client.hget(f"{prefix}:{{harold}}:record", "drain") or 0))

    world.settle()
    assert world.om.generations("harold")
    assert all(len(world.context(f"t-{n}").messages) >= 2 for n in range(2))
    assert all(state.current_task is not None for state in world.om.threads("harold"))
    assert client.hget(f"{prefix}:{{harold}}:record", "drain") is None
