"""Memory modes: a thread leaves no memory, or its contexts start without one, and no message of it is lost."""

import pytest
from world import World

from om_api import InvalidInputError, Outcome
from om_api.domain.errors import NotFoundError
from om_api.domain.values import Scope
from om_api.store.driver.partitions import learn
from om_api.store.memory import reading

LONG = [f"fact {n}" for n in range(15)]  # of 100 tokens each: more than the threshold of 1,000


def texts(context):
    return [message.content for message in context.messages]


def state(world, thread):
    return next(each for each in world.om.threads("harold", archived=None) if each.id == thread)


def counter(world, field="*"):
    return int(world.client.hget(f"{world.prefix}:{{harold}}:tokens", field) or 0)


def is_due(world):
    index = world.services.keys.due_observe
    world.services.run(learn(index.layout))
    return any(map(world.client.zcard, index.parts()))


def fact(world):
    """Another thread of harold says something that is observed."""
    world.say("The boat is moored at pier nine.", thread="other")
    world.observe_now("other")
    world.say("The newest words.", thread="other")


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_thread_that_leaves_no_memory_is_never_due_and_stays_raw(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    for mode in ("off", "read_only"):
        ids = world.om.add_messages(
            [{"role": "user", "content": text} for text in LONG], thread_id=mode, resource_id="harold", memory=mode
        ).ids
        world.settle()
        world.sweep()
        world.settle()
        assert not is_due(world), mode
        assert world.om.force_observe(mode, "harold", wait=0) is Outcome.REST, mode
        assert world.context(mode, max_tokens=20).omitted, mode
        world.say("more", thread=mode, memory=mode)
        assert not is_due(world), mode
        ids += tuple(message.id for message in world.om.messages("harold", mode)[-1:])
        assert [message.id for message in world.om.messages("harold", mode)] == list(ids), mode
        assert texts(world.context(mode)) == [*LONG, "more"], mode
    assert (counter(world), state(world, "off").messages, state(world, "off").memory) == (0, 16, "off")
    assert len(world.covering()) == len({*world.covering()}) == 32
    assert world.om.verify() == []
    world.say(*LONG, thread="t-1")  # others are due as ever
    world.settle()
    assert world.om.observations("harold", "t-1")
    world.say("raw", thread="t-1")
    world.settle()
    world.say("one message more", thread="off", tokens=10)  # the script has a shorter way for one message
    assert world.tick() == []
    assert world.om.verify() == []


def test_a_thread_that_leaves_no_memory_is_read_nowhere_else(world, monkeypatch):
    world.om.set_thread("harold", "off", memory="off")
    assert [(each.id, each.memory) for each in world.om.threads("harold")] == [("off", "off")]
    world.say("The password of the safe is swordfish.", thread="off")
    world.say("Where is the safe?", thread="t-1")
    assert "swordfish" not in world.context("t-1").text
    (name,) = [message.id for message in world.om.messages("harold", "off")]
    assert (world.om.recall("swordfish", "harold").hits, world.om.browse(name, "harold").message) == ((), None)
    assert len(world.om.recall("swordfish", "harold", thread_id="off").hits) == 1
    assert world.om.browse(name, "harold", thread_id="off").message.id == name
    world.om.set_thread("harold", "off", memory="full")
    assert "swordfish" in world.context("t-1").text
    assert len(world.om.recall("swordfish", "harold").hits) == 1
    world.om.set_thread("harold", "off", memory="read_only")
    assert "swordfish" not in world.context("t-1").text
    monkeypatch.setattr(reading, "_TRIES", 0)  # as where three looks in a row met what they had not named
    assert "swordfish" not in world.context("t-1").text


def test_contexts_of_each_mode_hold_what_it_says(client, prefix):
    world = World(client, prefix, working_memory__template="- Name: of the user\n")
    fact(world)
    world.om.update_working_memory({"Name": "Ada"}, "harold")
    world.say("The pump is made of brass.", thread="of-org", resource="org")
    world.observe_now("of-org", "org")
    for mode, reads in (("full", True), ("read_only", True), ("off", False), ("write_only", False)):
        world.om.sync([{"role": "user", "content": f"I am {mode}."}], "harold", mode, memory=mode)
        context = world.context(mode, also=["org"])
        assert texts(context) == [f"I am {mode}."], mode
        for words in ("pier nine", "The newest words.", "Ada", "brass"):
            assert (words in context.text) == reads, (mode, words)
        assert reads or [block.kind for block in context.blocks] == ["message"], mode
        assert ("org" in context.left_out) != reads, mode
    world.observe_now("write_only")
    context = world.context("write_only")
    assert [(each.thread_id, context.messages) for each in context.observations] == [("write_only", [])]
    assert "I am write_only." in world.context("full").text
    world.reflect_now()
    assert "pier nine" not in world.context("write_only").text
    assert world.om.verify() == []


def test_the_recall_tool_of_a_thread_that_starts_without_memory_finds_its_own_messages_only(world):
    fact(world)
    world.say("A pump of org is moored.", thread="of-org", resource="org")
    for mode, reads in (("full", True), ("read_only", True), ("off", False), ("write_only", False)):
        world.say(f"I am moored at {mode}.", thread=mode, memory=mode)
        for call, found in (
            ({"query": "moored"}, [reads, reads, mode != "read_only"]),
            ({"query": "moored", "thread_id": "other"}, [reads, False, not reads]),
            ({"query": "thread:other moored"}, [reads, False, False]),
        ):
            told = world.om.answer_recall(call, "harold", thread_id=mode, also=["org"])
            assert [each in told for each in ("pier nine", "A pump of org", f"moored at {mode}")] == found, (mode, call)
        group = world.om.answer_recall({"query": "-", "group": "2026-03"}, "harold", thread_id=mode)
        assert ("start without memory" in group) != reads, mode
    world.om.alias_thread("session-2", "off", "harold")
    assert "pier nine" not in world.om.answer_recall({"query": "moored"}, "harold", thread_id="session-2")


def test_a_mode_can_change_and_what_was_raw_is_observed_from_then_on(world):
    world.say(*LONG, thread="t-1")
    world.om.set_thread("harold", "t-1", memory="off")
    world.settle()
    assert (world.om.observations("harold"), counter(world)) == ([], 0)
    world.say("one more", thread="t-1")
    assert state(world, "t-1").memory == "off"
    world.om.set_thread("harold", "t-1", memory="full")
    assert counter(world) == 1600
    world.settle()
    assert world.om.observations("harold")
    world.om.set_thread("harold", "t-1", memory="off")
    noted = world.om.observations("harold")
    world.say(*LONG, thread="t-1")
    world.settle()
    assert world.om.observations("harold") == noted
    assert noted[0].text.split("\n")[-1] in world.context("t-1").text  # its own earlier turns
    assert len(world.covering()) == len({*world.covering()}) == 31
    assert world.om.verify() == []


def test_no_mode_is_set_with_a_title_of_an_unknown_thread(world):
    with pytest.raises(NotFoundError):
        world.om.set_thread("harold", "t-1", title="The roof", memory="off")
    assert world.client.hgetall(f"{world.prefix}:{{harold}}:tokens") == {}


def test_a_mode_that_is_none_is_refused_and_the_error_names_those_that_there_are(world):
    for wrong in ("offf", "Off", 3):
        with pytest.raises(
            InvalidInputError, match=r"invalid memory mode: .*; use one of full, off, write_only, read_only"
        ):
            world.om.set_thread("harold", "t-1", memory=wrong)
        with pytest.raises(InvalidInputError, match="invalid memory mode"):
            world.om.add_message({"role": "user", "content": "x"}, thread_id="t", resource_id="harold", memory=wrong)
    assert world.covering() == []


def test_a_plain_writer_sets_a_mode_and_its_messages_stay_raw(world):
    world.client.hset(f"{world.prefix}:{{harold}}:tokens", "*memory:t-1", "off")
    world.say("by the client", thread="t-1")
    assert is_due(world)  # once, so that workers meet the resource
    for n in range(3):
        world.plainly(f"m-{n}", "words of a plain writer " * 40)
    world.settle()
    assert (world.om.observations("harold"), counter(world), counter(world, "#t-1")) == ([], 0, 4)
    assert world.om.verify() == []


def test_retention_spares_a_thread_that_is_active_and_never_observed(world):
    """Catches a sweep to which messages that are never observed are no activity."""
    world.om.set_thread("harold", "off", memory="off")
    world.say("first", thread="off")
    world.settle()
    record = world.services.keys.of("harold").record(Scope("harold"))

    def days_later():
        world.sweep()
        world.client.hincrby(record, "stirred_at", -60 * 86_400_000)

    days_later()
    world.say("second", thread="off")
    days_later()
    world.sweep()
    assert texts(world.context("off")) == ["first", "second"]
    days_later()
    days_later()
    world.sweep()
    assert world.covering() == []
    assert world.client.hgetall(f"{world.prefix}:{{harold}}:tokens") == {}


def test_clearing_a_thread_ends_its_mode_before_and_after_its_first_message(world):
    world.say("kept", thread="t-2")
    for said in ((), ("one",)):
        world.om.set_thread("harold", "off", memory="off")
        world.say(*said, thread="off")
        world.om.clear("harold", "off")
        assert world.client.hget(f"{world.prefix}:{{harold}}:tokens", "*memory:off") is None, said
        assert counter(world) == 100, said
    assert world.om.verify() == []


def test_an_alias_of_another_mode_is_refused(world):
    world.say("one", thread="a")
    world.om.set_thread("harold", "b", memory="off")
    world.say("two", thread="b")
    world.say("of another thread", thread="t-1")
    with pytest.raises(InvalidInputError, match="memory modes of harold differ: b is off, a is full"):
        world.om.alias_thread("b", "a", "harold")
    world.om.set_thread("harold", "a", memory="off")
    for thread in ("a", "b"):
        world.om.add_message({"id": "both", "role": "user", "content": "three"}, thread_id=thread, resource_id="harold")
    world.om.alias_thread("b", "a", "harold")
    world.om.alias_thread("c", "a", "harold")  # a name that holds nothing takes the mode of its thread
    world.say("four", thread="c")
    assert (counter(world), counter(world, "#a"), state(world, "a").memory) == (100, 4, "off")
    assert world.om.verify() == []
    world.say("five", thread="d")
    world.client.hset(f"{world.prefix}:{{harold}}:tokens", "*memory:d", "of")  # no mode, so it counts as full
    world.om.alias_thread("d", "t-1", "harold")


def test_a_copy_has_the_mode_of_its_thread(world):
    world.om.set_thread("harold", "a", memory="off")
    world.say("one", thread="a")
    world.om.copy_thread("a", "b", "harold")
    assert (state(world, "b").memory, counter(world)) == ("off", 0)


def test_an_amended_message_of_a_thread_that_leaves_no_memory_counts_for_its_thread_alone(client, prefix):
    world = World(client, prefix, scope="thread")  # whose threads have thresholds of their own
    world.om.set_thread("harold", "off", memory="off")
    world.say("one", thread="off")
    world.settle()
    (name,) = world.covering()
    longer = {"id": name, "role": "user", "content": "one and much more " * 50}
    world.om.add_message(longer, thread_id="off", resource_id="harold")
    assert (counter(world), counter(world, "off") > 100, is_due(world)) == (0, True, False)
    world.say("of another thread", thread="t-1")
    world.om.erase("harold", message_id=name)
    assert counter(world) == 100
    assert world.om.verify() == []


def test_raw_messages_of_a_thread_that_leaves_no_memory_are_hidden_from_every_other_reader(world):
    world.say("The boat is moored.", thread="private")
    world.observe_now("private")
    world.say("The password is swordfish.", thread="private", memory="off")
    world.say("The password of dora.", thread="private", resource="dora")
    asked = {"query": "password", "thread_id": "private"}
    for query, how in (("thread:private password", {}), ("password", {"thread_id": "private"})):
        found = world.om.recall(query, "dora", also=["harold"], **how)
        assert [hit.resource_id for hit in found.hits] == ["dora"], query
        assert "names threads" in found.left_out["harold"], query
    assert "swordfish" not in world.om.answer_recall(asked, "dora", also=["harold"])
    assert [hit.resource_id for hit in world.om.recall("moored", "dora", also=["harold"]).hits] == ["harold"]
    for resource, also in (("harold", ()), ("dora", ["harold"])):  # beside a message that was observed before
        (hit,) = world.om.recall("moored", resource, also=also).hits
        assert (hit.message.content, hit.after) == ("The boat is moored.", ()), resource
    assert world.om.browse(hit.id, "harold").after == ()
    (hit,) = world.om.recall("moored", "harold", thread_id="private").hits
    named = world.om.browse(hit.id, "harold", thread_id="private")
    assert [each.content for each in (*hit.after, *named.after)] == ["The password is swordfish."] * 2
