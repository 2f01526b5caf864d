"""P13: one conversation that changed its id is one: nothing of it is lost, nothing twice, whoever writes by which name."""

import json
import time

import pytest
from world import World

from om_api import InvalidInputError, Message, ObservationalMemory, Outcome
from om_api.domain.errors import NotFoundError
from om_workers.llm.scripted import Scripted


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

    said = ["four", "one", "three", "two"]  # in which order is a matter of two clients' clocks
    for name in ("a", "b"):
        assert sorted(texts(world.context(name))) == said
        assert sorted(texts(theirs.get_context(name, "harold"))) == said
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


# -- faces --------------------------------------------------------------------------------------------------------------


def names(world, **how):
    return [each.id for each in world.om.threads("harold", **how)]


def state(world, thread="t-1"):
    return next(each for each in world.om.threads("harold", archived=None) if each.id == thread)


def titled(client, prefix, *titles):
    answers = [
        f"<observations>\n* noted\n</observations>\n<thread-title>\n{title}\n</thread-title>" for title in titles
    ]
    return World(client, prefix, Scripted(*answers))


def observe(world, *texts):
    world.say(*texts)
    world.om.force_observe("t-1", "harold")
    world.settle()


def test_an_observer_suggests_a_title_and_a_newer_one_takes_its_place(client, prefix):
    world = titled(client, prefix, "The roof", "The garden")
    observe(world, "the roof leaks")
    first = state(world)
    observe(world, "now the garden")

    assert (first.title, first.title_by, first.last_observed_at > 0) == ("The roof", "observer", True)
    assert state(world).title == "The garden"


def test_a_title_that_somebody_gave_stays(client, prefix):
    world = titled(client, prefix, "The roof", "The garden", "The cellar")
    observe(world, "the roof leaks")
    assert world.om.set_thread("harold", "t-1", title="Mine").title_by == "owner"
    observe(world, "now the garden")
    given = state(world).title
    world.om.set_thread("harold", "t-1", title="")
    observe(world, "now the cellar")

    assert (given, state(world).title) == ("Mine", "The cellar")


@pytest.mark.parametrize("named", ["old", "new"])
def test_of_two_threads_that_become_one_a_given_title_stands_before_a_suggested_one(client, prefix, named):
    world = titled(client, prefix, "The leaking roof", "The leaking roof")
    for thread in ("old", "new"):
        world.say("the roof leaks", thread=thread)
        world.om.force_observe(thread, "harold")
        world.settle()
    world.om.set_thread("harold", named, title="Roof, 2026")
    world.om.alias_thread("old", "new", "harold")
    (state,) = world.om.threads("harold")

    assert (state.title, state.title_by == "observer") == ("Roof, 2026", False)


def test_what_was_forgotten_stands_in_no_title_and_no_task_of_its_thread(client, prefix):
    said = "<observations>\n* noted\n</observations>\n<thread-title>\nMend the roof\n</thread-title>"
    world = World(client, prefix, Scripted(f"{said}\n<current-task>\nPrimary: mend it\n</current-task>"))
    observe(world, "the roof leaks")
    assert (state(world).title, "mend" in state(world).current_task) == ("Mend the roof", True)
    world.om.forget(world.om.observations("harold")[0].id, "harold")

    assert [(each.title, each.current_task) for each in world.om.threads("harold")] == [("", "")]
    world.om.set_thread("harold", "t-1", title="Mine")
    assert world.om.threads("harold")[0].title == "Mine"


@pytest.mark.parametrize("title", ["ab", "x" * 81, ""])
def test_what_is_no_title_changes_nothing(client, prefix, title):
    world = titled(client, prefix, "The roof", title)
    observe(world, "the roof leaks")
    observe(world, "more of it")

    assert state(world).title == "The roof"


def test_metadata_is_kept_as_it_was_given(world):
    world.say("one")
    world.om.set_thread("harold", "t-1", metadata={"project": "roof", "n": [1, {"deep": None}]})
    world.om.set_thread("harold", "t-1", title="Roof")

    assert (state(world).metadata, state(world).title) == ({"project": "roof", "n": [1, {"deep": None}]}, "Roof")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"title": "two\nlines"}, "one line of at most 200"),
        ({"title": "x" * 201}, "one line of at most 200"),
        ({"metadata": {"x": "y" * 5_000}}, r"5,008 bytes as JSON: at most 4,096"),
        ({"metadata": {"x": float("nan")}}, "cannot be written as JSON"),
    ],
)
def test_what_cannot_be_said_of_a_thread_is_refused(world, given, why):
    world.say("one")
    with pytest.raises(InvalidInputError, match=why):
        world.om.set_thread("harold", "t-1", **given)
    with pytest.raises(NotFoundError, match="harold has no thread nowhere"):
        world.om.set_thread("harold", "nowhere", title="Roof")


def test_an_archived_thread_is_out_of_sight_until_it_gets_a_message(world):
    world.say("the red boat", thread="a")
    world.say("the blue boat", thread="b")
    world.om.set_thread("harold", "b", archived=True)

    assert (names(world), names(world, archived=True), names(world, archived=None)) == (["a"], ["b"], ["a", "b"])
    assert "blue" not in world.context("a").text
    assert "blue" in world.context("b").text
    world.say("and a green one", thread="b")
    assert names(world) == ["a", "b"]
    assert "green" in world.context("a").text
    assert state(world, "b").archived_at == 0
    whole(world)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_plain_write_brings_a_thread_back_and_a_duplicate_does_not(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    plainly(world, "one", "a")
    world.om.set_thread("harold", "a", archived=True)
    plainly(world, "one", "a")
    still = names(world, archived=True)
    plainly(world, "two", "a")

    assert (still, names(world)) == (["a"], ["a"])


def test_threads_are_paged_by_activity_without_one_coming_twice(world):
    now = int(time.time() * 1000)
    for n, thread in enumerate(["c", "a", "d", "b"]):
        world.say("hi", thread=thread, timestamp=now - 10_000 + n)
    first = world.om.threads("harold", order="activity", limit=2)
    world.say("again", thread="c", timestamp=now)
    second = world.om.threads("harold", order="activity", limit=9, after=first[-1].place)

    assert [each.id for each in first] == ["b", "d"]
    assert [each.id for each in second] == ["a"]
    assert names(world, order="activity", limit=1) == ["c"]
    assert (names(world, limit=2), names(world, limit=2, after="b")) == (["a", "b"], ["c", "d"])
    with pytest.raises(InvalidInputError, match="use the `place`"):
        names(world, order="activity", after="b")
    with pytest.raises(InvalidInputError, match="use name or activity"):
        names(world, order="size")


def test_what_is_said_of_a_thread_goes_into_its_file_and_comes_back(world):
    world.say("one", thread="a")
    world.say("two", thread="b")
    world.om.set_thread("harold", "a", title="One", metadata={"n": 1}, archived=True)
    world.om.import_memory(list(world.om.export_memory("harold")), "ingrid")

    (found,) = world.om.threads("ingrid", archived=True)
    assert (found.id, found.title, found.metadata) == ("a", "One", {"n": 1})
    whole(world)


def test_what_is_erased_is_in_no_title_and_no_metadata(client, prefix):
    world = titled(client, prefix, "The secret roof")
    observe(world, "the secret roof leaks")
    world.say("one", thread="b")
    world.om.set_thread("harold", "b", metadata={"about": "a secret"}, title="Secret things")
    world.om.erase("harold", matching="secret")

    assert [(each.title, each.metadata) for each in world.om.threads("harold")] == [("", {}), ("", {})]


# -- copies -------------------------------------------------------------------------------------------------------------


def test_a_copy_reads_as_the_conversation_and_goes_on_by_itself(world):
    ids = world.say("one", "two", "three", thread="a")
    made = world.om.copy_thread("a", "b", "harold", until=ids[1])
    world.say("four", thread="b")

    assert (made.messages, made.message_id) == (2, ids[1])
    assert texts(world.context("b")) == ["one", "two", "four"]
    assert texts(world.context("a")) == ["one", "two", "three"]
    assert state(world, "b").copied_from.thread_id == "a"
    whole(world)


def test_what_is_observed_is_told_once_in_a_copy(world):
    world.say(*[f"message {n}" for n in range(12)], thread="a")
    world.settle()
    left = texts(world.context("a"))
    world.om.copy_thread("a", "b", "harold")

    assert texts(world.context("b")) == left
    assert world.context("b").text.count("<observations") == world.context("a").text.count("<observations")
    whole(world)


def test_a_copy_up_to_what_was_observed_begins_with_the_messages_before_it(world):
    ids = world.say(*[f"message {n}" for n in range(12)], thread="a")
    world.settle()
    world.om.copy_thread("a", "b", "harold", until=ids[2])

    assert texts(world.context("b")) == ["message 0", "message 1", "message 2"]
    whole(world)


def test_a_copy_into_another_memory_holds_all_that_is_kept(world):
    world.say(*[f"message {n}" for n in range(12)], thread="a")
    world.settle()
    world.om.copy_thread("a", "a", "harold", to_resource="ingrid")

    assert texts(world.context("a", "ingrid"))[:3] == ["message 0", "message 1", "message 2"]
    assert len(world.om.messages("ingrid", "a")) == 12
    whole(world)


def test_a_copy_that_is_made_again_changes_nothing_and_another_thread_is_left_alone(world):
    ids = world.say("one", "two", thread="a")
    world.say("mine", thread="c")
    again = [world.om.copy_thread("a", "b", "harold", until=ids[0]) for _ in range(2)]
    with pytest.raises(InvalidInputError, match="harold has a thread c already"):
        world.om.copy_thread("a", "c", "harold")
    with pytest.raises(NotFoundError, match="message nothing of thread a of harold is not kept"):
        world.om.copy_thread("a", "d", "harold", until="nothing")

    assert again[0] == again[1]
    assert texts(world.context("b")) == ["one"]


def test_a_message_that_grew_after_it_was_sealed_is_whole_in_a_copy(world):
    whole_text = "my flight is on Friday. " * 3
    world.om.add_message(
        {"id": "m-1", "role": "user", "content": whole_text[:24]}, thread_id="t-1", resource_id="harold"
    )
    world.om.force_observe("t-1", "harold")
    world.claim()
    verb, asked = world.dispatch.queue.popleft()
    world.perform(verb, *asked)
    grown = {"id": "m-1", "role": "user", "content": whole_text}
    world.om.add_message(grown, thread_id="t-1", resource_id="harold")
    world.om.copy_thread("t-1", "b", "harold")
    again = world.om.add_message(grown, thread_id="b", resource_id="harold")

    assert (texts(world.context("b")), again.duplicates) == ([whole_text], ("m-1",))
    whole(world)
