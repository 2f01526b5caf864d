"""P1: an id is known as long as anything of its message is kept; what a message grew by is kept, what it changed to is told."""

import pytest
from world import World

from om_api import Message

RESTS = ("raw", "sealed", "observed")


def said(name, content, **more):
    return Message(role="user", content=content, id=name, thread_id="t-1", resource_id="harold", tokens=100, **more)


def texts(world):
    return [message.content for message in world.context().messages]


def words_of(world):
    """Every word that is kept of t-1, raw or behind observations."""
    sources = [m for o in world.om.observations("harold") for m in world.om.sources(o.id, "harold")]
    return " ".join(str(message.content) for message in [*sources, *world.context().messages]).split()


def move(world, rest):
    if rest != "raw":
        world.om.force_observe("t-1", "harold")
        world.claim()
        world.perform(*world.next_task())
    if rest == "observed":
        world.settle()


def pushed(world, name, content):
    return world.om.add_message(said(name, content))


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("door", [pushed, World.plainly])
def test_an_id_is_known_whatever_became_of_its_message(world, rest, door):
    """Catches ids that are remembered for a time: the whole history that a client sends again would be remembered twice."""
    world.say("one", id="m-1")
    move(world, rest)
    door(world, "m-1", "one")
    world.settle()
    assert (world.covering(), words_of(world).count("one"), world.om.verify()) == (["m-1"], 1, [])


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("door", [pushed, World.plainly])
def test_what_a_message_grew_by_is_kept_once(world, rest, door):
    """Catches a streaming client whose message is taken for a duplicate: its new parts were lost."""
    world.say("one two", id="m-1")
    move(world, rest)
    for content in ("one two three", "one two three four", "one two three"):
        door(world, "m-1", content)
    world.settle()
    assert (sorted(words_of(world)), world.om.verify()) == (["four", "one", "three", "two"], [])


@pytest.mark.parametrize("rest", RESTS)
def test_an_id_that_says_something_else_is_told_and_only_what_is_raw_is_replaced_if_asked_for(world, rest):
    world.say("one", id="m-1")
    move(world, rest)
    before = world.context().text
    receipt = pushed(world, "m-1", "something else")
    assert (receipt.added, receipt.duplicates, [each.id for each in receipt.changed]) == (0, (), ["m-1"])
    assert ("with `replace`" in receipt.changed[0].advice, world.context().text) == (rest == "raw", before)
    receipt = world.om.add_message(said("m-1", "something else"), replace=True)
    world.settle()
    assert (receipt.replaced, len(receipt.changed)) == ((("m-1",), 0) if rest == "raw" else ((), 1))
    assert [word in words_of(world) for word in ("else", "one")] == [rest == "raw", rest != "raw"]
    assert world.om.verify() == []


@pytest.mark.parametrize("rest", RESTS)
def test_an_import_knows_the_ids_of_what_it_brings_and_what_they_had_grown_by(world, rest):
    world.say("one", id="m-1")
    world.say("two", id="m-2")
    move(world, "observed")
    pushed(world, "m-1", "one three")
    move(world, rest)
    file = b"".join(world.om.export_memory("harold"))
    world.om.clear("harold")
    world.om.import_memory([file])
    for name, content in (("m-1", "one"), ("m-2", "two"), ("m-1", "one three")):
        assert pushed(world, name, content).added == 0
    assert pushed(world, "m-1", "one three").duplicates == ("m-1",)
    assert pushed(world, "m-1", "one three more").grown == ("m-1",)
    world.settle()
    assert (sorted(words_of(world)), world.om.verify()) == (["more", "one", "three", "two"], [])


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_history_sent_again_each_turn_is_remembered_once(client, prefix, scope):
    """Catches what the most ordinary client of all met: it has no ids, and sends everything again."""
    history, world = [], World(client, prefix, scope=scope, message_threshold="100")
    for n in range(15):
        history += [Message(role="user", content=f"word-{n}"), Message(role="assistant", content="ok")]
        om = world.om if n % 3 else World(client, prefix, scope=scope, message_threshold="100").om  # remembers nothing
        synced = om.sync(history, "harold", "t-1")
        assert (synced.added, synced.known, synced.diverged_at) == (2, len(history) - 2, None)
        world.tick()
    world.settle()
    found = words_of(world)
    assert world.om.observations("harold")
    assert ([found.count(f"word-{n}") for n in range(15)], found.count("ok")) == ([1] * 15, 15)
    assert world.om.verify() == []


def test_an_id_is_new_again_once_its_source_is_gone_wherever_its_thread_moved_meanwhile(world):
    """Catches ids that nobody forgets, because what was sealed was sealed in the scope that the memory left."""
    pushed(world, "m-1", "one")
    move(world, "observed")
    (observation,) = world.om.observations("harold")
    assert pushed(world, "m-1", "one").added == 0
    world.om.forget(observation.id, "harold")
    world.om.migrate_scope("harold", "thread")
    known = world.services.keys.of("harold").known("t-1")
    (day,) = (name for name in world.client.hkeys(known) if name.startswith(b"d"))
    world.client.hset(known, day, 1)
    world.sweep()
    assert (pushed(world, "m-1", "tomorrow").added, texts(world), world.om.verify()) == (1, ["tomorrow"], [])
