"""What an owner may do, and what is told of it: nothing comes back into a memory that is read_only, what is absent is said."""

import msgspec
import pytest
from world import World

from om_api import InvalidInputError, Outcome
from om_api.client.core import Core
from om_api.store.driver.steps import Verb


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def owner(world):
    return Core(world.settings, len).owning


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (lambda own: own.restore("harold", 0), "restored"),
        (lambda own: own.retry_rejected("harold", "entry"), "retried"),
        (lambda own: own._check_importable("harold"), "imported"),
    ],
)
def test_nothing_comes_back_into_a_memory_that_is_only_read(client, prefix, asked, what):
    world = World(client, prefix, read_only="true")

    with pytest.raises(InvalidInputError, match=f"harold is read_only: nothing of it is written, so nothing is {what}"):
        world.services.run(asked(owner(world)))


def test_an_observation_that_is_not_there_is_not_forgotten_silently(world):
    with pytest.raises(InvalidInputError, match="harold has no observation o-1: it expired, or it never was"):
        world.services.run(owner(world).forget("o-1", "harold"))


def test_an_observation_is_forgotten_with_its_messages(world):
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    (observation, *_) = world.om.observations("harold")

    assert world.services.run(owner(world).forget(observation.id, "harold")) is Outcome.CLEARED
    assert observation.id not in {each.id for each in world.om.observations("harold")}
    assert world.om.sources(observation.id, "harold") == []


def test_a_generation_below_none_is_refused(world):
    with pytest.raises(InvalidInputError, match="-1 is no generation"):
        world.services.run(owner(world).restore("harold", -1))


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


def test_a_forgotten_observation_is_told_by_its_id_once_it_is_gone(condensed):
    (observation, *_) = condensed.om.observations("harold")
    condensed.om.forget(observation.id, "harold")

    assert told(condensed, "forgotten") == {
        "resource": "harold",
        "thread": "t-1",
        "observation": observation.id,
        "messages": len(observation.message_ids),
        "tokens": observation.tokens,
    }


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


def test_a_restored_generation_is_told_by_its_number_and_one_that_could_not_be_is_not(condensed):
    assert condensed.om.restore("harold", 0) is Outcome.RESTORED
    with pytest.raises(InvalidInputError):
        condensed.om.restore("harold", 9)

    assert told(condensed, "restored") == {"resource": "harold", "generation": 0}


def test_a_moved_memory_is_told_and_one_that_stands_where_it_should_is_not(condensed):
    assert condensed.om.migrate_scope("harold", "resource") is Outcome.REST
    assert condensed.om.migrate_scope("harold", "thread") is Outcome.ACTIVATED

    assert told(condensed, "migrated") == {"resource": "harold", "to": "thread"}


def test_an_imported_memory_is_told_by_what_it_holds_under_its_new_name(condensed):
    made = condensed.om.import_memory(list(condensed.om.export_memory("harold")), "albert")

    assert told(condensed, "imported") == {
        "resource": "albert",
        "messages": made.messages,
        "observations": made.observations,
        "generations": made.generations,
    }


def test_what_was_erased_is_told_by_counts_alone(world):
    reporter = Core(world.settings, len).reporter
    world.services.run(reporter.erased("harold", messages=3, observations=2, generations=1, rejected=0))

    assert told(world, "erased") == {
        "resource": "harold", "messages": 3, "observations": 2, "generations": 1, "rejected": 0
    }  # fmt: skip
