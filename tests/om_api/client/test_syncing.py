"""sync: a client's whole history, each turn again: what is new is added once, in one round trip where it just goes on."""

import json
import random
import time

import pytest
import redis
from world import World

from om_api import Message
from om_api.client import syncing
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Scope
from om_api.store.memory.known import tidy


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def turns(*texts, first=0):
    """A talk without ids."""
    roles = ("user", "assistant")
    return [Message(role=roles[n % 2], content=text) for n, text in enumerate(texts, first)]


def fresh(world):
    """A client that remembers nothing."""
    return World(world.client, world.prefix).om


def sync(world, history, om=None):
    return (om or world.om).sync(history, "harold", "t-1")


def texts(world):
    return [message.content for message in world.context().messages]


def watched(om, seen):
    """Have a client say each script or transaction before it asks for it."""
    run = om._connection.run

    def counted(steps):
        def inner():
            reply = None
            try:
                while True:
                    step = steps.send(reply)
                    seen(step)
                    reply = yield step
            except StopIteration as end:
                return end.value

        return run(inner())

    om._connection.run = counted


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


@pytest.mark.parametrize("warm", [True, False])
def test_what_is_new_of_a_long_history_is_added_in_one_round_trip(world, warm):
    history = turns(*(f"turn {n}" for n in range(200)))
    sync(world, history)
    om = world.om if warm else fresh(world)
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


def test_a_thing_said_twice_is_two_messages(world):
    for n in range(1, 9):
        assert sync(world, turns(*["ok"] * n), fresh(world)).added == 1

    assert texts(world) == ["ok"] * 8


def test_sent_again_nothing_is_added_by_whoever(world):
    history = turns("a", "b", "c")
    ids = sync(world, history).ids
    for om in (world.om, fresh(world)):
        again = sync(world, history, om)

        assert (again.ids, again.added, again.known) == (ids, 0, 3)


def test_messages_that_were_added_before_are_recognised_without_their_ids(world):
    """Catches a history that is believed new because no history was synced before."""
    world.say("a", id="m-1")
    world.say("b", id="m-2")
    found = sync(world, [Message(role="user", content=text) for text in "abc"])

    assert (found.ids[:2], found.added, found.known) == (("m-1", "m-2"), 1, 2)
    assert texts(world) == ["a", "b", "c"]


def test_own_ids_are_kept_and_may_stand_beside_none(world):
    history = [Message(role="user", content="a", id="mine"), *turns("b", first=1)]
    found = sync(world, history)

    assert found.ids[0] == "mine"
    assert sync(world, [*history, *turns("c")], fresh(world)).added == 1


@pytest.mark.parametrize("warm", [True, False])
def test_an_edit_of_the_past_changes_nothing_and_is_told(world, warm):
    history = turns("a", "b", "c", "d")
    ids = sync(world, history).ids
    edited = [*turns("a", "other", "c", "d"), *turns("e")]
    found = sync(world, edited, world.om if warm else fresh(world))

    assert (found.added, found.known, found.diverged_at) == (1, 3, 1)
    assert [each.id for each in found.changed] == [ids[1]]
    assert found.ids[:4] == ids
    assert texts(world) == ["a", "b", "c", "d", "e"]

    again = sync(world, edited, world.om if warm else fresh(world))
    assert (again.added, [each.id for each in again.changed]) == (0, [ids[1]])


def test_a_client_that_strips_what_is_kept_pays_one_round_trip(world):
    world.om.add_message(Message(role="user", content="a \n", id="m-1"), thread_id="t-1", resource_id="harold")
    history = [Message(role="user", content="a", id="m-1"), *turns("b", first=1)]
    for _ in range(2):
        sync(world, history)
    found, asked = trips(world, world.om, [*history, *turns("c")])

    assert (found.added, found.known, found.changed, asked) == (1, 2, (), 1)


def test_an_edit_that_stays_costs_one_round_trip_and_is_told_until_it_is_taken_back(world):
    history = turns("a", "b", "c", "d")
    ids = sync(world, history).ids
    edited = turns("a", "other", "c", "d", "e")
    sync(world, edited)
    found, asked = trips(world, world.om, [*edited, *turns("f", first=1)])

    assert (found.added, found.known, found.diverged_at, asked) == (1, 4, 1, 1)
    assert [each.id for each in found.changed] == [ids[1]]
    again = sync(world, edited)
    assert (again.added, again.known, len(again.changed)) == (0, 4, 1)
    back = sync(world, [*turns("a", "b", "c", "d", "e"), *turns("f", first=1)])
    assert (back.added, back.changed, back.diverged_at) == (0, (), None)


@pytest.mark.parametrize("warm", [True, False])
def test_an_edit_is_told_although_the_talk_begins_as_it_ends(world, warm):
    """Catches a whole history that is kept twice, because its first word is the last that is kept."""
    ids = sync(world, turns("ok", "fine", "one", "two", "ok")).ids
    found = sync(world, turns("ok", "fine", "one", "other", "ok"), world.om if warm else fresh(world))

    assert (found.added, found.known, found.ids) == (0, 4, ids)
    assert [each.id for each in found.changed] == [ids[3]]


@pytest.mark.parametrize("warm", [True, False])
def test_a_branch_is_added_and_told(world, warm):
    sync(world, turns("a", "b", "c", "d"))
    found = sync(world, turns("a", "b", "x", "y"), world.om if warm else fresh(world))

    assert (found.added, found.known, found.changed, found.diverged_at) == (2, 2, (), 2)
    assert texts(world) == ["a", "b", "c", "d", "x", "y"]
    assert sync(world, turns("a", "b", "x", "y", "z"), fresh(world)).added == 1


@pytest.mark.parametrize("warm", [True, False])
def test_a_last_message_that_was_cut_while_it_streamed_grows(world, warm):
    sync(world, turns("a", "hel"))
    found = sync(world, turns("a", "hello", "c"), world.om if warm else fresh(world))

    assert (found.added, found.known, len(found.grown), found.diverged_at) == (1, 1, 1, None)
    assert texts(world) == ["a", "hello", "c"]


@pytest.mark.parametrize("warm", [True, False])
def test_a_history_that_lost_its_beginning_goes_on(world, warm):
    history = turns(*(f"turn {n}" for n in range(60)))
    for end in range(20, 60, 2):
        found = sync(world, history[end - 20 : end + 2], world.om if warm else fresh(world))

        assert found.diverged_at is None
    assert texts(world) == [f"turn {n}" for n in range(60)]


@pytest.mark.parametrize("warm", [True, False])
def test_a_window_that_begins_as_the_talk_began_loses_no_new_word(world, warm):
    """Catches a window that is taken for the beginning of the talk: what is new in it was called an edit, and lost."""
    history = []
    for n in range(16):
        history += turns("tick" if n < 6 else f"do W{n}", "tock")
        sync(world, history[-8:], world.om if warm else fresh(world))

    assert [text for text in texts(world) if text.startswith("do")] == [f"do W{n}" for n in range(6, 16)]


def test_an_edited_history_that_is_sent_again_adds_nothing(world):
    sync(world, turns(*(f"W{n}" for n in range(6))))
    for edited in (["W0", "W1", "X", "W3", "W4", "W5"], ["W0", "W1", "X", "Y", "W3", "W4", "W5"]):
        sync(world, turns(*edited))
        kept_now = texts(world)
        for om in (world.om, fresh(world)):
            assert sync(world, turns(*edited), om).added == 0
        assert texts(world) == kept_now


def test_a_beginning_that_comes_later_is_not_where_the_talk_ended(world):
    """Catches an end that moves to what was put in before it: another branch was taken for what goes on there."""
    sync(world, turns("b", "c"))
    first = Message(role="user", content="a", id="own")
    sync(world, [first, *turns("b", "c")])
    found = sync(world, [first, *turns("b", "x")])

    assert (found.added, found.known, found.diverged_at) == (1, 2, 2)


def test_what_a_plain_writer_left_before_the_sweep_is_recognised(world):
    sync(world, turns("a", "b"))
    member = json.dumps({"role": "user", "content": "c"})
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {member: time.time() * 1000})
    sync(world, turns("a", "b", "c", "d"))
    world.sweep()

    assert texts(world) == ["a", "b", "c", "d"]


def test_a_note_that_is_gone_the_next_turn_leaves_one_message(world):
    history = []
    for n in range(6):
        history += turns(f"W{n}")
        sync(world, [*history[:-1], *turns(f"W{n}\n<note>{n}</note>")])
        history += turns(f"answer {n}", first=1)

    assert len([text for text in texts(world) if text.startswith("W")]) == 6


def test_what_was_observed_is_recognised(world):
    history = turns(*(f"turn {n}" for n in range(30)))
    sync(world, history)
    world.om.force_observe("t-1", "harold")
    world.settle()
    found = sync(world, [*history[10:], *turns("new")], fresh(world))

    assert (found.added, found.known) == (1, 20)
    assert world.om.verify() == []


@pytest.mark.parametrize("warm", [True, False])
def test_what_has_expired_of_a_history_is_not_new(world, warm):
    """The end of it is kept under ids that say what precedes them: a client that sends all of it for ever adds nothing twice."""
    history = turns(*(f"turn {n}" for n in range(30)))
    sync(world, history)
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, [*history, *turns("a", "b")])
    _expire(world)
    om = world.om if warm else fresh(world)
    found = sync(world, [*history, *turns("a", "b", "c", "d")], om)

    assert (found.added, found.known, found.diverged_at) == (2, 32, None)
    assert texts(world) == ["a", "b", "c", "d"]
    again, asked = trips(world, om, [*history, *turns("a", "b", "c", "d", "e")])
    assert (again.added, again.known, asked) == (1, 34, 1)


def test_what_has_expired_is_not_new_beside_what_another_said_before(world):
    """The oldest message that is kept is none of the history's; the ids of its end say what preceded them all the same."""
    history = turns(*(f"turn {n}" for n in range(30)))
    sync(world, history)
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, [*history, *turns("a", "b")])
    early = Message(role="assistant", content="a note", timestamp=1_763_600_000)
    world.om.add_message(early, thread_id="t-1", resource_id="harold")
    _expire(world)
    found = sync(world, [*history, *turns("a", "b", "c")], fresh(world))

    assert (found.added, found.known, texts(world)) == (1, 32, ["a note", "a", "b", "c"])


def test_an_edit_that_another_client_kept_meanwhile_is_known(world):
    """Catches an edit that is told as changed for ever, although what it says is kept by now, in another's branch."""
    sync(world, turns("x", "y", "z"))
    assert len(sync(world, turns("x", "other", "z")).changed) == 1
    assert sync(world, turns("x", "other", "w"), fresh(world)).added == 2
    found = sync(world, turns("x", "other", "z", "more"))

    assert (found.changed, found.added) == ((), 1)


def test_what_was_cleared_while_a_sync_was_on_its_way_is_new(world):
    """Catches an end that came too late, and is taken for a sign that all before it had expired."""
    history = turns("a", "b", "c")
    last = sync(world, history).ids[-1]
    world.om.clear("harold")
    late = Message(role="user", content="c", id=last)
    world.om.add_message(late, thread_id="t-1", resource_id="harold")

    assert (sync(world, history).added, sync(world, history, fresh(world)).added) == (2, 0)


@pytest.mark.parametrize("warm", [True, False])
def test_what_has_expired_is_not_new_although_ids_do_not_say_what_precedes(world, warm):
    def talk(*contents):
        return [Message(role="user", content=text, id=f"m-{text}") for text in contents]

    sync(world, talk(*"abcd"))
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, talk(*"abcdef"))
    _expire(world, 4)
    found = sync(world, talk(*"abcdefg"), world.om if warm else fresh(world))

    assert (found.added, found.known, texts(world)) == (1, 6, ["e", "f", "g"])


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("told", ["a X c d e f g", "a c d e f g", "c d e f g"])
def test_what_its_owner_forgot_does_not_come_back(world, told, warm):
    """Not even where the client left out of its history what it told its memory to forget."""
    sync(world, turns(*"abcd"))
    world.om.force_observe("t-1", "harold")
    world.settle()
    sync(world, turns(*"abcdef"))
    for observation in world.om.observations("harold"):
        world.om.forget(observation.id, "harold")
    said = {message.content: message for message in turns(*"abcdefg")} | {"X": turns("X", first=1)[0]}
    sync(world, [said[letter] for letter in told.split()], world.om if warm else fresh(world))

    assert texts(world) == ["e", "f", "g"]


def test_a_beginning_that_is_observed_is_found_behind_much_that_is_raw(world):
    """Catches reading that stops at another's talk, because nothing of this one is known by its ids."""
    world.om.add_messages(turns(*"abcd"), thread_id="t-1", resource_id="harold")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.om.add_messages(turns(*(f"other {n}" for n in range(30))), thread_id="t-1", resource_id="harold")

    assert (sync(world, turns(*"abcde")).added, world.om.verify()) == (1, [])


def test_what_is_said_again_behind_a_window_is_new(world):
    history = turns("task", "answer", "continue", "x1", "x2", "x3", "x4", "x5")
    sync(world, history)
    found = sync(world, [history[0], *history[4:], *turns("continue")])

    assert (found.added, found.known, texts(world)[-1]) == (1, 5, "continue")


def test_messages_of_one_second_stay_in_order(world):
    said = [Message(role="user", content=f"turn {n}", timestamp=1_763_600_000) for n in range(12)]
    sync(world, said[:6])
    for end in range(7, 13):
        sync(world, said[:end])

    assert texts(world) == [f"turn {n}" for n in range(12)]


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


def test_a_client_that_took_another_way_back_knows_its_old_history(world):
    """Catches a client that goes on from what it remembers, although the whole history is known by its own ids."""
    sync(world, turns("ok", "one", "ok"))
    sync(world, turns("ok", "other", "ok"))
    found = sync(world, turns("ok", "one", "ok"))

    assert (found.added, found.known) == (0, 3)


def test_instructions_are_no_part_of_the_talk(world):
    today = Message(role="system", content="Today is Monday.")
    tomorrow = Message(role="system", content="Today is Tuesday.")
    assert sync(world, [today, *turns("a", "b")]).ids[0] == ""
    found = sync(world, [tomorrow, *turns("a", "b", "c")])

    assert (found.added, found.known, found.changed) == (1, 2, ())
    assert texts(world) == ["a", "b", "c"]
    assert sync(world, [today]) == syncing.Synced(("",), 0, 0)
    assert sync(world, []) == syncing.Synced((), 0, 0)


def test_a_vendors_messages_are_taken_as_they_are(world):
    call = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c-1", "content": "found"},
    ]
    assert sync(world, history).added == 3
    assert sync(world, [*history, {"role": "assistant", "content": "There."}], fresh(world)).added == 1


def test_more_than_a_batch_is_added_whole_and_known_again(world):
    history = turns(*(f"turn {n}" for n in range(1_203)))

    assert sync(world, history).added == 1_203
    assert sync(world, [*history, *turns("new", first=1)], fresh(world)).added == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["text"], r"messages\[0\]: .*Message"),
        ([Message(role="user", content="a", thread_id="t-9")], r"messages\[0\]: it is of .*t-9"),
        ([Message(role="user", content="a"), Message(role="user", content="b", resource_id="ann")], r"messages\[1\]"),
    ],
)
def test_what_cannot_be_a_history_is_refused_and_nothing_is_kept(world, given, told):
    with pytest.raises(InvalidInputError, match=told):
        sync(world, given)
    assert texts(world) == []


def test_a_message_that_cannot_be_kept_is_named_by_its_place_in_the_history(world):
    history = [*turns("a", "b"), Message(role="user", content=[{"type": "text", "text": "x", "odd": object()}])]
    with pytest.raises(InvalidInputError, match=r"messages\[2\]"):
        sync(world, history)
    assert texts(world) == []


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


@pytest.mark.parametrize("seed", range(12))
def test_however_a_talk_goes_on_each_turn_stands_there_once(world, seed):
    """A client that forgets, restarts, loses its beginning or repeats itself; its words are few, so that they repeat."""
    dice = random.Random(seed)
    said: list[str] = []
    start = 0
    for _ in range(12):
        said += [dice.choice(["ok", "yes", "no", f"word {len(said)}"]) for _ in range(dice.randrange(1, 6))]
        history = turns(*said)[start:]
        sync(world, history, world.om if dice.random() < 0.5 else fresh(world))
        if dice.random() < 0.3:
            world.tick()
    world.settle()

    sources = [m for o in world.om.observations("harold") for m in world.om.sources(o.id, "harold")]
    kept = [*sources, *world.context().messages]
    assert sorted(message.content for message in kept) == sorted(said)


def test_metadata_that_merely_has_our_word_hides_no_message(world):
    said = turns("a", "b")
    world.om.add_messages(said, thread_id="t-1", resource_id="harold")
    marked = Message(role="user", content="c", metadata={"continues": True})
    world.om.add_message(marked, thread_id="t-1", resource_id="harold")
    found = sync(world, turns("a", "b", "c", "d"), fresh(world))
    assert (found.added, found.known, texts(world)) == (1, 3, ["a", "b", "c", "d"])


def test_a_thread_knows_the_ids_of_its_messages_wherever_they_are(world):
    names = world.say("one", "two")
    world.om.force_observe(resource_id="harold")
    world.settle()
    world.say("three", thread="t-2")

    assert world.om.known_ids([*names, "nobody"], "harold", "t-1") == {*names}
    assert world.om.known_ids(names, "harold", "t-2") == set()
    assert world.om.known_ids([], "harold", "t-1") == set()
    with pytest.raises(InvalidInputError, match="id 'a b' is not an id"):
        world.om.known_ids(["a b"], "harold", "t-1")
