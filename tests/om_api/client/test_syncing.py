"""sync: a client's whole history, each turn again: what is new is added once, in one round trip where it just goes on."""

import pytest
import redis
from scene import each_step
from world import World

from om_api import Message
from om_api.client import syncing
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Scope
from om_api.store.memory.known import tidy


def turns(*texts, first=0):
    """A talk without ids."""
    roles = ("user", "assistant")
    return [Message(role=roles[n % 2], content=text) for n, text in enumerate(texts, first)]


def fresh(world):
    """A client that remembers nothing."""
    return World(world.client, world.prefix).om


def talk(words):
    """The same of one word each, of which a user's end in a question mark."""
    return [Message(role="user" if word.endswith("?") else "assistant", content=word) for word in words.split()]


def sync(world, history, om=None, thread="t-1", **given):
    return (om or world.om).sync(history, "harold", thread, **given)


def texts(world, thread="t-1"):
    return [message.content for message in world.context(thread).messages]


def watched(om, seen):
    """Have a client say each script or transaction before it asks for it."""
    run = om._connection.run
    om._connection.run = lambda steps: run(each_step(steps, seen))


def trips(world, om, history):
    """How many scripts and transactions a sync is."""
    asked, run = [], om._connection.run
    watched(om, asked.append)
    found = sync(world, history, om)
    om._connection.run = run
    return found, len(asked)


def _expire(world, messages=30):
    """The time for which sources are kept is over."""
    keys = world.services.keys
    for observation in world.om.observations("harold"):
        world.client.delete(keys.of("harold").source(observation.id), keys.of("harold").segment(observation.id))
    world.client.delete(keys.of("harold").sources("t-1"))
    assert world.services.run(tidy(keys, Scope("harold"), ["t-1"], 0)) == messages


def test_what_is_new_of_a_long_history_is_added_in_one_round_trip(world):
    history = turns(*(f"turn {n}" for n in range(200)))
    sync(world, history)
    om = fresh(world)
    om.ping()
    found, asked = trips(world, om, [*history, *turns("and this", "yes")])

    assert (found.added, found.known, found.diverged_at) == (2, 200, None)
    assert asked == 1
    assert texts(world)[-2:] == ["and this", "yes"]


def test_a_turn_that_two_clients_send_at_once_is_kept_once(world):
    """Time 0: one lays its window beside what is kept. Time 1: another adds the new turn. Time 2: the first sends it."""
    history = turns(*"abcdef")
    sync(world, history)
    slow, fast, pushes = fresh(world), world.om, []

    def overtaken(step):
        if getattr(step, "name", "") == "push":
            pushes.append(step)
            if len(pushes) == 2:
                sync(world, [*history, *turns("new")], fast)

    watched(slow, overtaken)
    found = sync(world, [*history[2:], *turns("new")], slow)

    assert (found.added, found.known, len(pushes)) == (0, 5, 2)
    assert texts(world) == [*"abcdef", "new"]


WAYS = {  # histories as they come (+: added plainly), and what of the last is new, known, changed, and where it diverges
    "sent again": (["a? b c?", "a? b c?"], (0, 3, [], None)),
    "said twice": (["ok? ok", "ok? ok ok?"], (1, 2, [], None)),
    "added before without ids": (["+a? b", "a? b c?"], (1, 2, [], None)),
    "an edit": (["a? b c? d", "a? x c? d e?"], (1, 3, [1], 1)),
    "an edit, sent again": (["a? b c? d", "a? x c? d e?", "a? x c? d e?"], (0, 4, [1], 1)),
    "an edit, taken back": (["a? b c? d", "a? x c? d e?", "a? b c? d e?"], (0, 5, [], None)),
    "an edit where the talk begins as it ends": (["ok? a b? c ok?", "ok? a b? x ok?"], (0, 4, [3], 3)),
    "a branch": (["a? b c? d", "a? b x? y"], (2, 2, [], 2)),
    "a branch that goes on": (["a? b c? d", "a? b x? y", "a? b x? y z?"], (1, 4, [], None)),
    "a last message that was cut": (["a? hel", "a? hello c?"], (1, 1, [], None)),
    "the old way after another one": (["ok? a ok?", "ok? b ok?", "ok? a ok?"], (0, 3, [], None)),
    "said again behind a window": (["t? a go? b c? d e? f", "t? c? d e? f go?"], (1, 5, [], None)),
}


def test_sync_tells_what_is_new_known_and_changed_of_any_history(world):
    """Each way by a client that remembers, and by new ones; an edit of the past changes nothing that is stored."""
    for way, (histories, expected) in WAYS.items():
        for warm in (True, False):
            thread = f"t-{list(WAYS).index(way)}-{warm}"
            for history in histories:
                om = world.om if warm else fresh(world)
                messages = talk(history.lstrip("+"))
                if history.startswith("+"):
                    world.om.add_messages(messages, thread_id=thread, resource_id="harold")
                    continue
                found = sync(world, messages, om, thread, diverged="keep")
            changed = [found.ids.index(each.id) for each in found.changed]
            assert (found.added, found.known, changed, found.diverged_at) == expected, (way, warm)
            assert len(found.grown) == (way == "a last message that was cut"), (way, warm)
            if way.startswith("an edit,"):
                assert "x" not in texts(world, thread), way


def test_sync_knows_an_edit_that_another_client_stored_meanwhile(world):
    """Catches an edit that is told as changed for ever, although what it says is stored by now, in another's branch."""
    sync(world, talk("x? y z?"))
    assert len(sync(world, talk("x? other z?"), diverged="keep").changed) == 1
    assert sync(world, talk("x? other w?"), fresh(world), diverged="keep").added == 2
    found = sync(world, talk("x? other z? more"), diverged="keep")

    assert (found.changed, found.added) == ((), 1)


def test_sync_takes_a_beginning_that_comes_later_for_no_end(world):
    """Catches an end that moves to what was put in before it: another branch was taken for what goes on there."""
    sync(world, turns("b", "c"))
    first = Message(role="user", content="a", id="own")
    assert sync(world, [first, *turns("b", "c")]).ids[0] == "own"
    found = sync(world, [first, *turns("b", "x")])

    assert (found.added, found.known, found.diverged_at) == (1, 2, 2)


def test_sync_refuses_what_cannot_be_a_history_and_keeps_nothing(world):
    odd = Message(role="user", content=[{"type": "text", "text": "x", "odd": object()}])
    for given, told in (
        (["text"], r"messages\[0\]: .*Message"),
        ([Message(role="user", content="a", thread_id="t-9")], r"messages\[0\]: it is of .*t-9"),
        ([*turns("a"), Message(role="user", content="b", resource_id="ann")], r"messages\[1\]"),
        ([*turns("a", "b"), odd], r"messages\[2\]"),
    ):
        with pytest.raises(InvalidInputError, match=told):
            sync(world, given)
        assert texts(world) == [], told


def test_a_window_that_begins_as_the_talk_began_loses_no_new_word(world):
    """Catches a window that is taken for the beginning of the talk: what is new in it was called an edit, and lost."""
    history = []
    for n in range(16):
        history += turns("tick" if n < 6 else f"do W{n}", "tock")
        sync(world, history[-8:], fresh(world))

    assert [text for text in texts(world) if text.startswith("do")] == [f"do W{n}" for n in range(6, 16)]


def test_what_has_expired_of_a_history_is_not_new(world):
    """The end of it is kept under ids that say what precedes them: a client that sends all of it for ever adds nothing twice."""
    history = turns(*(f"turn {n}" for n in range(30)))
    sync(world, history)
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, [*history, *turns("a", "b")])
    _expire(world)
    om = fresh(world)
    found = sync(world, [*history, *turns("a", "b", "c", "d")], om)

    assert (found.added, found.known, found.diverged_at) == (2, 32, None)
    assert texts(world) == ["a", "b", "c", "d"]
    again, asked = trips(world, om, [*history, *turns("a", "b", "c", "d", "e")])
    assert (again.added, again.known, asked) == (1, 34, 1)


def test_what_was_cleared_while_a_sync_was_on_its_way_is_new(world):
    """Catches an end that came too late, and is taken for a sign that all before it had expired."""
    history = turns("a", "b", "c")
    last = sync(world, history).ids[-1]
    world.om.clear("harold")
    late = Message(role="user", content="c", id=last)
    world.om.add_message(late, thread_id="t-1", resource_id="harold")

    assert (sync(world, history).added, sync(world, history, fresh(world)).added) == (2, 0)


@pytest.mark.parametrize("told", ["a X c d e f g", "c d e f g"])
def test_what_its_owner_forgot_does_not_come_back(world, told):
    """Not even where the client left out of its history what it told its memory to forget."""
    sync(world, turns(*"abcd"))
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, turns(*"abcdef"))
    for observation in world.om.observations("harold"):
        world.om.forget(observation.id, "harold")
    said = {message.content: message for message in turns(*"abcdefg")} | {"X": turns("X", first=1)[0]}
    sync(world, [said[letter] for letter in told.split()], fresh(world))

    assert texts(world) == ["e", "f", "g"]


def test_a_beginning_that_is_observed_is_found_behind_much_that_is_raw(world):
    """Catches reading that stops at another's talk, because nothing of this one is known by its ids."""
    world.om.add_messages(turns(*"abcd"), thread_id="t-1", resource_id="harold")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.om.add_messages(turns(*(f"other {n}" for n in range(30))), thread_id="t-1", resource_id="harold")

    assert (sync(world, turns(*"abcde")).added, world.om.verify()) == (1, [])


def test_what_grew_after_it_was_sealed_is_found_whole_among_what_is_kept(world):
    """Catches a history that is said to differ where the rest of a message is kept behind it."""
    history = turns("a", "b", "half")
    sync(world, history)
    world.om.force_observe("t-1", "harold")
    world.settle()
    longer = [*history[:2], *turns("half and more"), *turns("c", first=1)]
    assert len(sync(world, longer).grown) == 1
    found = sync(world, [*longer[1:], *turns("d")], fresh(world))

    assert (found.added, found.known, found.grown, found.changed, found.diverged_at) == (1, 3, (), (), None)


def test_instructions_are_no_part_of_the_talk(world):
    today = Message(role="system", content="Today is Monday.")
    tomorrow = Message(role="system", content="Today is Tuesday.")
    assert sync(world, [today, *turns("a", "b")]).ids[0] == ""
    found = sync(world, [tomorrow, *turns("a", "b", "c")])

    assert (found.added, found.known, found.changed) == (1, 2, ())
    assert texts(world) == ["a", "b", "c"]
    assert sync(world, [today]) == syncing.Synced(("",), 0, 0, thread_id="t-1")
    assert sync(world, []) == syncing.Synced((), 0, 0, thread_id="t-1")


def test_while_the_store_is_away_nothing_waits_and_nothing_is_lost(world, monkeypatch):
    """The next history brings everything again; with `fail_open` the agent goes on."""
    om = world.face(world.services.settings, fail_open=True, client=world.client)
    history = turns("a", "b")
    with monkeypatch.context() as away:
        away.setattr(world.client, "evalsha", _fails)
        found = om.sync(history, "harold", "t-1")
        with pytest.raises(StoreError):
            sync(world, history)

    assert (found.added, found.known) == (0, 0)
    assert om.sync([*history, *turns("c")], "harold", "t-1").added == 3
    assert texts(world) == ["a", "b", "c"]


def _fails(*_):
    raise redis.ConnectionError("away")


def test_sync_adds_more_than_a_batch_whole_and_knows_it_again(world):
    history = turns(*(f"turn {n}" for n in range(1_203)))
    assert sync(world, history).added == 1_203
    assert sync(world, [*history, *turns("new", first=1)], fresh(world)).added == 1
