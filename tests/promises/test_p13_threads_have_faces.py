"""P13: one conversation that changed its id is one: nothing of it is lost, nothing twice, whoever writes by which name."""

import time

import pytest
from world import World

from om_api import InvalidInputError, Message, ObservationalMemory, Outcome
from om_workers.llm.scripted import Scripted


def other(world):
    return ObservationalMemory(world.settings, client=world.client)


def texts(context):
    return [message.content for message in context.messages]


def whole(world):
    assert world.om.verify() == []


def test_what_is_written_and_read_by_an_alias_is_the_threads(world):
    theirs = other(world)
    world.say("one", thread="a")
    theirs.get_context("b", "harold")
    world.om.alias_thread("b", "a", "harold")
    theirs.add_message(Message(role="user", content="two", thread_id="b", resource_id="harold"))
    world.say("three", thread="b")
    world.plainly("four", "four", "b")
    said = ["four", "one", "three", "two"]  # in which order is a matter of two clients' clocks
    for name in ("a", "b"):
        assert sorted(texts(world.context(name))) == said
        assert sorted(texts(theirs.get_context(name, "harold"))) == said
        assert len(world.om.messages("harold", name)) == 4
    assert [each.id for each in world.om.threads("harold")] == ["a"]
    whole(world)


def test_a_history_that_is_sent_by_either_name_is_known(world):
    history = [{"role": "user", "content": f"turn {n}"} for n in range(5)]
    world.om.sync(history, "harold", "a")
    world.om.alias_thread("b", "a", "harold")
    again = world.om.sync([*history, {"role": "assistant", "content": "yes"}], "harold", "b")
    theirs = other(world).sync([*history, {"role": "assistant", "content": "yes"}], "harold", "b")
    assert (again.added, theirs.added, len(world.context("a").messages)) == (1, 0, 6)


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


def state(world, thread="t-1"):
    return next(each for each in world.om.threads("harold", archived=None) if each.id == thread)


def titled(client, prefix, *titles):
    answers = [
        f"<observations>\n* {title}\n</observations>\n<thread-title>\n{title}\n</thread-title>" for title in titles
    ]
    return World(client, prefix, Scripted(*answers))


def observe(world, *texts):
    world.say(*texts)
    world.observe_now()


def test_an_observer_suggests_titles_and_one_that_somebody_gave_stays(client, prefix):
    world = titled(client, prefix, "The roof", "The garden", "The ship", "The cellar")
    observe(world, "the roof leaks")
    first = state(world)
    observe(world, "now the garden")
    assert (first.title, first.title_by, state(world).title) == ("The roof", "observer", "The garden")
    assert world.om.set_thread("harold", "t-1", title="Mine").title_by == "owner"
    observe(world, "now the ship")
    assert state(world).title == "Mine"
    world.om.set_thread("harold", "t-1", title="")
    observe(world, "now the cellar")
    assert state(world).title == "The cellar"


def test_what_is_said_of_a_thread_goes_into_its_file_and_comes_back(world):
    world.say("one", thread="a")
    world.say("two", thread="c")
    world.om.alias_thread("b", "c", "harold")
    world.om.set_thread("harold", "a", title="One", metadata={"n": [1, {"deep": None}]}, archived=True)
    world.om.import_memory(list(world.om.export_memory("harold")), "ingrid")
    world.say("three", thread="b", resource="ingrid")
    (found,) = world.om.threads("ingrid", archived=True)
    assert (found.id, found.title, found.metadata) == ("a", "One", {"n": [1, {"deep": None}]})
    assert world.om.thread_aliases("ingrid") == {"b": "c"}
    assert texts(world.context("c", "ingrid")) == ["two", "three"]
    whole(world)
    world.om.clear("ingrid")
    assert world.om.thread_aliases("ingrid") == {}


def test_what_is_erased_is_in_no_title_and_no_metadata(client, prefix):
    world = titled(client, prefix, "The secret roof")
    observe(world, "the secret roof leaks")
    world.say("one", thread="b")
    world.om.set_thread("harold", "b", metadata={"about": "a secret"}, title="Secret things")
    world.om.erase("harold", matching="secret")
    assert [(each.title, each.metadata) for each in world.om.threads("harold")] == [("", {}), ("", {})]


def test_what_was_forgotten_is_in_no_title_and_no_task_of_its_thread(client, prefix):
    said = "<observations>\n* Mend the roof\n</observations>\n<thread-title>\nMend the roof\n</thread-title>"
    world = World(client, prefix, Scripted(f"{said}\n<current-task>\nPrimary: mend it\n</current-task>"))
    observe(world, "the roof leaks")
    assert (state(world).title, "mend" in state(world).current_task) == ("Mend the roof", True)
    world.om.forget(world.om.observations("harold")[0].id, "harold")
    assert (state(world).title, state(world).current_task) == ("", "")


def test_a_copy_reads_as_the_conversation_and_goes_on_by_itself(world):
    ids = world.say("one", "two", "three", thread="a")
    made, again = (world.om.copy_thread("a", "b", "harold", until=ids[1]) for _ in range(2))
    world.say("four", thread="b")
    world.say("mine", thread="c")
    with pytest.raises(InvalidInputError, match="harold has a thread c already"):
        world.om.copy_thread("a", "c", "harold")
    assert (made.messages, made.message_id, again) == (2, ids[1], made)
    assert texts(world.context("b")) == ["one", "two", "four"]
    assert (texts(world.context("a")), state(world, "b").copied_from.thread_id) == (["one", "two", "three"], "a")
    whole(world)


def test_a_message_that_grew_after_it_was_sealed_is_whole_in_a_copy(world):
    whole_text = "my flight is on Friday. " * 3
    world.om.add_message(
        {"id": "m-1", "role": "user", "content": whole_text[:24]}, thread_id="t-1", resource_id="harold"
    )
    world.om.force_observe("t-1", "harold")
    world.claim()
    world.perform(*world.next_task())
    grown = {"id": "m-1", "role": "user", "content": whole_text}
    world.om.add_message(grown, thread_id="t-1", resource_id="harold")
    world.om.copy_thread("t-1", "b", "harold")
    again = world.om.add_message(grown, thread_id="b", resource_id="harold")
    assert (texts(world.context("b")), again.duplicates) == ([whole_text], ("m-1",))
    whole(world)


def test_threads_are_paged_without_one_coming_twice(world):
    def names(**asked):
        return [each.id for each in world.om.threads("harold", **asked)]

    now = int(time.time() * 1000)
    for n, thread in enumerate(["c", "a", "d", "b"]):
        world.say("hi", thread=thread, timestamp=now - 10_000 + n)
    first = world.om.threads("harold", order="activity", limit=2)
    world.say("again", thread="c", timestamp=now)
    assert [each.id for each in first] == ["b", "d"]
    assert names(order="activity", limit=9, after=first[-1].place) == ["a"]
    assert names(order="activity", limit=1) == ["c"]
    assert (names(limit=2), names(limit=2, after="b")) == (["a", "b"], ["c", "d"])


@pytest.mark.parametrize("named", ["old", "new"])
def test_of_two_threads_that_become_one_a_given_title_is_kept_before_a_suggested_one(client, prefix, named):
    world = titled(client, prefix, "The leaking roof", "The leaking roof")
    for thread in ("old", "new"):
        world.say("the roof leaks", thread=thread)
        world.om.force_observe(thread, "harold")
        world.settle()
    world.om.set_thread("harold", named, title="Roof, 2026")
    world.om.alias_thread("old", "new", "harold")
    (found,) = world.om.threads("harold")
    assert (found.title, found.title_by == "observer") == ("Roof, 2026", False)
