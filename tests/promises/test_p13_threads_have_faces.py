"""P13: one conversation that changed its id is one: nothing of it is lost, nothing twice, whoever writes by which name."""

import json
import time

import pytest
from world import World

from om_api import InvalidInputError, Message, ObservationalMemory, Outcome
from om_api.domain.errors import NotFoundError


def other(world):
    """Another process, which was told nothing."""
    return ObservationalMemory(world.settings, client=world.client)


def texts(context):
    return [message.content for message in context.messages]


def plainly(world, name, thread):
    key = f"{world.prefix}:{{harold}}:messages:{thread}"
    member = json.dumps({"id": name, "role": "user", "content": name})
    world.client.zadd(key, {member: time.time() * 1000})
    world.client.zadd(f"{world.prefix}:adopt", {key: 0})
    world.sweep()


def whole(world):
    assert world.om.verify() == []


def test_what_is_written_and_read_by_an_alias_is_the_threads(world):
    theirs = other(world)
    world.say("one", thread="a")
    theirs.get_context("b", "harold")
    world.om.alias_thread("b", "a", "harold")
    theirs.add_message(Message(role="user", content="two", thread_id="b", resource_id="harold"))
    world.say("three", thread="b")
    plainly(world, "four", "b")

    for name in ("a", "b"):
        assert texts(world.context(name)) == ["one", "two", "three", "four"]
        assert texts(theirs.get_context(name, "harold")) == ["one", "two", "three", "four"]
        assert len(world.om.messages("harold", name)) == 4
    assert [each.id for each in world.om.threads("harold")] == ["a"]
    whole(world)


def test_both_names_have_one_context_byte_for_byte(world):
    world.say(*[f"message {n}" for n in range(12)], thread="a")
    world.settle()
    world.om.alias_thread("b", "a", "harold")

    assert world.context("a").text == world.context("b").text


def test_observed_or_not_it_is_one_conversation(world):
    world.say(*[f"message {n}" for n in range(12)], thread="a")
    world.settle()
    world.say(*[f"later {n}" for n in range(12)], thread="b")
    world.settle()
    before = sorted(world.covering())
    world.om.alias_thread("b", "a", "harold")
    world.settle()

    assert sorted(world.covering()) == before
    assert {each.thread_id for each in world.om.observations("harold")} == {"a"}
    assert len(world.om.observations("harold", "b")) == len(world.om.observations("harold"))
    whole(world)


def test_a_history_that_is_sent_by_either_name_is_known(world):
    history = [{"role": "user", "content": f"turn {n}"} for n in range(5)]
    world.om.sync(history, "harold", "a")
    world.om.alias_thread("b", "a", "harold")
    again = world.om.sync([*history, {"role": "assistant", "content": "yes"}], "harold", "b")
    theirs = other(world).sync([*history, {"role": "assistant", "content": "yes"}], "harold", "b")

    assert (again.added, theirs.added, len(world.context("a").messages)) == (1, 0, 6)


def test_the_same_history_under_both_names_becomes_one(world):
    history = [{"role": "user", "content": f"turn {n}"} for n in range(5)]
    world.om.sync(history[:3], "harold", "a")
    world.om.sync(history, "harold", "b")
    world.om.alias_thread("b", "a", "harold")

    assert texts(world.context("b")) == [turn["content"] for turn in history]
    whole(world)


def test_a_client_that_believes_in_an_alias_that_ended_is_told_better(world):
    theirs = other(world)
    world.say("one", thread="a")
    world.om.alias_thread("b", "a", "harold")
    theirs.add_message(Message(role="user", content="two", thread_id="b", resource_id="harold"))
    assert world.om.unalias_thread("b", "harold") is Outcome.CLEARED
    theirs.add_message(Message(role="user", content="three", thread_id="b", resource_id="harold"))
    theirs.sync([{"role": "user", "content": "two"}], "harold", "b")

    assert texts(theirs.get_context("b", "harold")) == ["three", "two"]
    assert texts(theirs.get_context("a", "harold")) == ["one", "two"]
    assert world.om.unalias_thread("b", "harold") is Outcome.REST
    whole(world)


def test_recall_force_erase_and_clear_know_a_thread_by_its_alias(world):
    world.say("the blue passport", "the red boat", thread="a")
    world.say("the blue boat", thread="other")
    world.om.alias_thread("b", "a", "harold")

    assert [hit.message.content for hit in world.om.recall("blue", "harold", thread_id="b").hits] == [
        "the blue passport"
    ]
    assert len(world.om.recall("thread:b boat", "harold").hits) == 1
    assert world.om.force_observe("b", "harold") is Outcome.BUSY
    world.settle()
    (message, _) = world.om.sources(world.om.observations("harold", "b")[0].id, "harold")
    assert world.om.known_ids([message.id], "harold", "b") == {message.id}
    assert world.om.erase("harold", message_id=message.id, thread_id="b").messages[0].id == message.id
    assert world.om.clear("harold", "b").outcome is Outcome.CLEARED
    assert world.om.is_known("harold", "other")
    assert not world.om.messages("harold", "a")
    whole(world)


def test_a_cleared_resource_has_no_aliases(world):
    world.say("one", thread="a")
    world.om.alias_thread("b", "a", "harold")
    world.om.clear("harold")
    world.say("two", thread="b")

    assert (world.om.thread_aliases("harold"), texts(world.context("b"))) == ({}, ["two"])
    whole(world)


def test_a_memory_that_was_exported_knows_its_aliases(world):
    world.say("one", thread="a")
    world.om.alias_thread("b", "a", "harold")
    world.om.import_memory(list(world.om.export_memory("harold")), "ingrid")
    world.say("two", thread="b", resource="ingrid")

    assert world.om.thread_aliases("ingrid") == {"b": "a"}
    assert texts(world.context("a", "ingrid")) == ["one", "two"]
    whole(world)


def test_where_each_thread_has_a_memory_of_its_own_only_raw_messages_move(client, prefix):
    world = World(client, prefix, scope="thread")
    world.say("one", thread="a")
    world.say("two", thread="b")
    world.om.alias_thread("b", "a", "harold")
    assert texts(world.context("b")) == ["one", "two"]
    world.say(*[f"message {n}" for n in range(12)], thread="c")
    world.settle()
    with pytest.raises(InvalidInputError, match="thread c of harold has a memory of its own"):
        world.om.alias_thread("c", "a", "harold")

    assert world.om.record("harold", "b") == world.om.record("harold", "a")
    whole(world)


def test_what_cannot_be_is_said_at_once(world):
    world.say("one", thread="a")
    with pytest.raises(NotFoundError, match="harold has no thread nowhere"):
        world.om.alias_thread("b", "nowhere", "harold")
    with pytest.raises(InvalidInputError, match="would stand for itself"):
        world.om.alias_thread("a", "a", "harold")
