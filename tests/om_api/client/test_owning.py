"""What an owner may do, and what is told of it: nothing comes back into a memory that is read_only, what is absent is said."""

import msgspec
import pytest
from world import World

from om_api import InvalidInputError, Outcome
from om_api.client.core import Core
from om_api.store.driver.steps import Verb


def owner(world):
    return Core(world.settings, len).owning


@pytest.fixture
def condensed(world):
    """Harold's memory with a generation, and observations behind it."""
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    world.say(*[f"message {n}" for n in range(20, 32)])
    world.settle()
    return world


def told(world, kind):
    """What the one event of a kind carries."""
    (event,) = world.om.events("0", kinds=kind).events
    said = msgspec.structs.asdict(event)
    return {name: value for name, value in said.items() if value is not None and name not in {"kind", "id", "at"}}


def test_of_two_who_forget_one_observation_the_one_who_did_tells_it(condensed):
    """Time 0: it is found. Time 1: somebody else forgets it. Time 2: it is to be forgotten, and is gone."""
    (observation, *_) = condensed.om.observations("harold")
    steps = owner(condensed).forget(observation.id, "harold")
    step = next(steps)
    while not (isinstance(step, Verb) and step.name == "forget"):
        step = steps.send(condensed.services.run(_once(step)))
    condensed.om.forget(observation.id, "harold")

    with pytest.raises(StopIteration) as end:
        steps.send(condensed.services.run(_once(step)))
    assert end.value.value is Outcome.SUPERSEDED
    assert told(condensed, "forgotten")["observation"] == observation.id


def _once(step):
    return (yield step)


def test_events_tell_what_an_owner_did_and_nothing_that_could_not_be_done(condensed):
    om = condensed.om
    made = om.import_memory(list(om.export_memory("harold")), "albert")
    counts = {"messages": made.messages, "observations": made.observations, "generations": made.generations}
    assert told(condensed, "imported") == {"resource": "albert", **counts}

    (observation, *_) = om.observations("harold")
    assert om.forget(observation.id, "harold") is Outcome.CLEARED
    assert observation.id not in {each.id for each in om.observations("harold")}
    assert om.sources(observation.id, "harold") == []
    assert told(condensed, "forgotten") == {
        "resource": "harold", "thread": "t-1", "observation": observation.id, "messages": len(observation.message_ids),
        "tokens": observation.tokens,
    }  # fmt: skip

    assert om.restore("harold", 0) is Outcome.RESTORED
    with pytest.raises(InvalidInputError):
        om.restore("harold", 9)
    assert told(condensed, "restored") == {"resource": "harold", "generation": 0}
    assert om.migrate_scope("harold", "resource") is Outcome.REST
    assert om.migrate_scope("harold", "thread") is Outcome.ACTIVATED
    assert told(condensed, "migrated") == {"resource": "harold", "to": "thread"}


def test_nothing_is_written_into_a_memory_that_is_only_read_and_nothing_comes_back_into_it(world, client, prefix):
    world.say("hello", resource="ann")
    file, om = list(world.om.export_memory("ann")), World(client, prefix, read_only="true").om
    for change in [
        lambda: om.add_line("User never flies", "harold", "t-1"), lambda: om.correct_line("a", "b", "harold"),
        lambda: om.undo_line("o-1", "harold"), lambda: om.pin("a", "harold"), lambda: om.unpin("a", "harold"),
        lambda: om.restore("harold", 0), lambda: om.retry_rejected("harold", "entry"),
        lambda: om.import_memory(file, "harold"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match="read_only"):
            change()


def test_two_pinned_lines_never_become_one(world):
    for line in ("The boat leaves at nine.", "The boat leaves at ten."):
        world.om.add_line(line, "harold", "t-1")
        world.om.pin(line, "harold")
    with pytest.raises(InvalidInputError, match="unpin one of them first"):
        world.om.correct_line("The boat leaves at nine.", "The boat leaves at ten.", "harold")
    pinned = [pin.text for pin in world.om.pins("harold")]

    assert [text.split(" ", 2)[2] for text in pinned] == ["The boat leaves at nine.", "The boat leaves at ten."]
