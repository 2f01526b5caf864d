"""sync with a history that replaces stored messages: `follow` retracts them, `copy` goes on in a copy, `keep` keeps both."""

import pytest
from scene import interrupted
from world import World

from om_api import Message
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Scope
from om_api.store.memory.known import tidy


def talk(words):
    """Messages of one word each: a user's end in a question mark, instructions in a colon; `id=word` has an id."""
    roles = {"?": "user", ":": "system"}
    named = [word.rpartition("=")[::2] for word in words.split()]
    return [Message(role=roles.get(word[-1], "assistant"), content=word, id=name) for name, word in named]


def read(world, thread="t-1"):
    return " ".join(message.content for message in world.context(thread).messages)


def sync(world, words, thread="t-1", **given):
    return world.om.sync(talk(words), "harold", thread, **given)


def meanwhile(world, happens):
    """Have something happen right before the client's first call of `retract`."""
    run = world.om._connection.run

    def once(steps):
        world.om._connection.run = run
        return run(interrupted(steps, "retract", happens))

    world.om._connection.run = once


# histories, one after the other ("+": added by another way); what a context reads then
FOLLOWED = {
    "a new answer": (["joke? one", "joke? two"], "joke? two"),
    "an undone end": (["a? b typo? what", "a? b proper?"], "a? b proper?"),
    "edits in the middle": (["porto? bus hotel? luna", "porto? train hotel? sol"], "porto? train hotel? sol"),
    "an edit under another id": (["1=a? 2=b 3=c?", "1=a? 4=x 3=c?"], "a? x c?"),
    "back again": (["a? b", "a? c", "a? b"], "a? b"),
    "back and on": (["a? b", "a? c d? e", "a? b f?"], "a? b f?"),
    "the middle and back": (["a? b c? d", "a? x c? d", "a? b c? d"], "a? b c? d"),
    "a window": (["a? b c? d", "c? d e?"], "a? b c? d e?"),
    "a window with a summary": (["a? b c? d", "sum c? d e?"], "a? b sum c? d e?"),
    "only its beginning": (["a? b c? d", "a? b"], "a? b c? d"),
    "another talk": (["a? b", "x? y"], "a? b x? y"),
    "nothing": (["a? b", ""], "a? b"),
    "instructions at the end": (["a? b", "a? now:"], "a? b now:"),
    "others' messages": (["a? b", "+tool", "a? c"], "a? tool c"),
    "others' messages after a history": (["a? b", "+t", "a? b t c?", "a? b t d?"], "a? b t d?"),
    "a pushed message": (["1=a? 2=b", "1=a? 3=c", "+2=b"], "a? b c"),
    "an ending that is cut": (["a? longer", "a? long"], "a? longer"),
}


def test_sync_reads_the_branch_in_force(world):
    """By a client that remembers, and by new ones."""
    for way, (histories, expected) in FOLLOWED.items():
        for warm in (True, False):
            thread = f"t-{list(FOLLOWED).index(way)}-{warm}"
            for words in histories:
                om = world.om if warm else World(world.client, world.prefix).om
                add = om.add_messages if words.startswith("+") else om.sync
                add(talk(words.lstrip("+")), thread_id=thread, resource_id="harold")
            assert read(world, thread) == expected, (way, warm)
    assert world.om.verify() == []


def test_sync_retracts_calls_with_their_results(world):
    call = [{"type": "tool-call", "id": "c-1", "name": "look", "args": {}}]
    result = [{"type": "tool-result", "id": "c-1", "name": "look", "result": "rain"}]
    used = [Message(role="assistant", content=call), Message(role="tool", content=result)]
    world.om.sync([*talk("a?"), *used, *talk("b")], "harold", "t-1")
    found = world.om.sync([*talk("a? c")], "harold", "t-1")

    assert (len(found.retracted), read(world)) == (3, "a? c")
    assert len(world.om.sync([*talk("a?"), *used, *talk("d")], "harold", "t-1").restored) == 2


def test_sync_says_what_no_longer_holds_of_what_was_noted(world):
    """Noted messages are quoted in the closing block; one that was left out of a note is quoted when it is valid again."""
    sync(world, "a? b")
    world.observe_now()
    sync(world, "a? c")
    assert [world.context().text.count(quote) for quote in ("no longer valid:\n- assistant: b", "Valid again")] == [
        1,
        0,
    ]
    world.observe_now()
    sync(world, "a? d")
    sync(world, "a? e")
    world.observe_now()  # without d, which was raw when it was retracted
    assert "d" not in [line[-1:] for each in world.om.observations("harold") for line in each.text.split("\n")]
    sync(world, "a? d")
    closing = world.context().blocks[-1].text
    assert "- assistant: c\n- assistant: e\n" in closing
    assert "Valid again in this conversation:\n- assistant: d\n" in closing
    assert world.om.verify() == []


def test_sync_says_so_where_a_message_is_sealed_before_it_is_retracted(world):
    """Time 0: sync finds b raw. Time 1: a worker seals and notes it. Time 2: it is retracted, and a context says so."""
    sync(world, "a? b")
    meanwhile(world, world.observe_now)
    sync(world, "a? c")
    assert "no longer valid:\n- assistant: b" in world.context().blocks[-1].text


def test_sync_retracts_nothing_where_a_message_came_meanwhile(world):
    """Time 0: sync finds b replaced. Time 1: another client adds b again. Time 2: nothing was retracted; it looks again."""
    sync(world, "a? 2=b")
    other = World(world.client, world.prefix).om
    meanwhile(world, lambda: other.sync(talk("a? 2=b x?"), "harold", "t-1"))
    found = sync(world, "a? c")
    assert (len(found.retracted), read(world)) == (2, "a? c")


def test_sync_copies_a_thread_where_a_branch_begins(world):
    sync(world, "a? b c? d")
    first = sync(world, "a? x", diverged="copy")
    assert first.thread_id != "t-1"
    again = sync(world, "a? x y?", diverged="copy")
    second = sync(world, "a? x z?", diverged="copy")
    assert again.thread_id == first.thread_id
    assert (first.diverged_at, second.diverged_at) == (1, 1)
    assert {name: read(world, name) for name in ("t-1", first.thread_id, second.thread_id)} == {
        "t-1": "a? b c? d",
        first.thread_id: "a? x y?",
        second.thread_id: "a? x z?",
    }
    with pytest.raises(InvalidInputError, match="follow, copy, keep"):
        sync(world, "a?", diverged="split")


def test_sync_copies_where_a_retracted_branch_comes_back(world):
    """The messages of that branch are not in the thread's context, so the copy begins before them."""
    for words in ("a? b c? d", "a? b x? y"):
        sync(world, words)
    found = sync(world, "a? b c? d", diverged="copy")
    assert found.diverged_at == 2
    assert (read(world), read(world, found.thread_id)) == ("a? b x? y", "a? b c? d")


def test_retracted_messages_are_found_with_their_mark(world):
    """By recall and by browsing, raw and noted; no context recalls them by itself."""
    sync(world, "vienna? lisbon? porto? gone")
    world.observe_now(None)
    sync(world, "vienna? lisbon? braga? stays")
    for _ in range(2):
        (hit,) = world.om.recall("porto", "harold", around=1).hits
        assert hit.retracted == (hit.id, hit.after[0].id)
        assert world.om.browse(hit.id, "harold").retracted == hit.retracted
        assert "retracted from its conversation" in world.om.answer_recall({"query": "porto"}, "harold")
        world.observe_now(None)
    assert not world.om.recall("braga", "harold", around=0).hits[0].retracted
    world.om.sync(talk("porto?"), "harold", "t-2")
    assert not world.context("t-2").recalled


def test_retracted_messages_stay_retracted_in_exports_and_aliases(world):
    """In a file, into the thread that an alias stands for, and into no copy; what is forgotten has no mark left."""
    sync(world, "hi?", "t-3")
    sync(world, "a? b")
    sync(world, "a? c")
    world.om.import_memory(world.om.export_memory("harold"), "ada")
    world.om.copy_thread("t-1", "t-2", "harold")
    world.om.alias_thread("t-1", "t-3", "harold")
    assert [read(world, name) for name in ("t-1", "t-2", "t-3")] == ["hi? a? c", "a? c", "hi? a? c"]
    assert [message.content for message in world.context(resource="ada").messages] == ["a?", "c"]
    assert world.om.verify() == []

    known = world.services.keys.of("harold").known("t-3")
    assert world.client.hget(known, "@")
    world.observe_now("t-3")
    world.say("raw", thread="t-3")
    world.services.run(tidy(world.services.keys, Scope("harold"), ["t-3"], -1))
    assert world.client.hget(known, "@") is None


def test_verify_names_retracted_messages_that_are_unknown(world):
    sync(world, "a? b")
    world.client.hset(world.services.keys.of("harold").known("t-1"), "@", b"1234567r")
    assert [each.what for each in world.om.verify()] == ["retracts 1 messages whose ids it does not know"]


def test_no_quote_of_a_message_outlives_its_removal(world):
    for n, removed in enumerate(
        (
            lambda: world.om.erase("harold", matching="secret"),
            lambda: world.om.erase("harold", message_id="secret-1", thread_id="t-1"),
            lambda: world.om.forget(world.om.observations("harold")[0].id, "harold"),
        )
    ):
        sync(world, f"a{n}? secret-1=secret")
        world.observe_now()
        sync(world, f"a{n}? c")
        assert "secret" in world.context().text
        removed()
        assert "secret" not in world.context().text
        world.om.clear("harold")
