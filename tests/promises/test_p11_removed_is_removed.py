"""P11: what was erased is found in no tier, no event and no export; what stays is covered; no history brings it back."""

import json

import pytest
from world import World, contents

from om_api import InvalidInputError, Message
from om_api.domain.values import Outcome

SECRET = "hunter2"
TIERS = ("reflected", "observed", "ready", "sealed", "raw")


@pytest.fixture(params=["resource", "thread"])
def house(request, client, prefix) -> World:
    return World(client, prefix, scope=request.param, observation_threshold="100000", message_threshold="100000")


def _through_every_tier(world, text):
    """Messages of one thread, of which one in each tier holds the text; their ids by tier."""
    ids = {}
    for tier in TIERS:
        ids[tier] = world.say(f"{tier} before", text.format(tier), f"{tier} behind")
        for move in {"raw": (), "sealed": ("seal",)}.get(tier, ("seal", "note")):
            getattr(_Moves, move)(world)
        if tier in {"reflected", "observed"}:
            world.om.force_observe("t-1", "harold")
            world.settle()
        if tier == "reflected":
            world.om.force_reflect("harold", "t-1")
            world.settle()
            assert world.om.generations("harold")
    return ids


class _Moves:
    @staticmethod
    def seal(world):
        world.om.force_observe("t-1", "harold")
        world.claim()
        verb, given = world.dispatch.queue.popleft()
        world.perform(verb, *given)

    @staticmethod
    def note(world):
        verb, given = world.dispatch.queue.popleft()
        world.perform(verb, *given)


def _whole_store(world):
    return repr(contents(world.client, f"{world.prefix}*")).casefold()


def _exported(world):
    return b"".join(world.om.export_memory("harold")).decode().casefold()


def test_a_text_is_gone_from_every_tier_event_and_export(house):
    ids = _through_every_tier(house, "the password is Hunter2, said {}")
    assert _whole_store(house).count(SECRET) > len(TIERS)

    did = house.om.erase("harold", matching="the PASSWORD  is hunter2")

    secret = {names[1] for names in ids.values()}
    assert did.outcome is Outcome.CLEARED
    assert {message.id for message in did.messages} == secret
    assert SECRET not in _whole_store(house)
    assert SECRET not in _exported(house)
    kept = sorted(name for names in ids.values() for name in names if name not in secret)
    assert house.covering() == kept
    assert house.om.verify() == []


def test_what_is_left_is_observed_again_without_it(house):
    ids = _through_every_tier(house, "the password is Hunter2, said {}")
    house.om.erase("harold", matching=SECRET)
    house.om.force_observe("t-1", "harold")
    house.settle()

    text = house.context().text
    assert SECRET not in _whole_store(house)
    assert all(f"[{names[0]}]" in text and f"[{names[2]}]" in text for names in ids.values())
    assert house.om.verify() == []


def test_a_history_that_is_sent_again_does_not_bring_it_back(house):
    ids = _through_every_tier(house, "the password is Hunter2, said {}")
    history = [
        Message(role="user", content=text, id=name, thread_id="t-1", resource_id="harold", tokens=100)
        for tier, names in ids.items()
        for name, text in zip(
            names, (f"{tier} before", f"the password is Hunter2, said {tier}", f"{tier} behind"), strict=True
        )
    ]
    house.om.erase("harold", matching=SECRET)

    assert house.om.add_messages(history).added == 0
    assert house.om.sync(history, resource_id="harold", thread_id="t-1").added == 0
    assert SECRET not in _whole_store(house)


@pytest.mark.parametrize("tier", TIERS)
def test_a_message_is_gone_with_what_was_noted_of_it_and_nothing_else_is(house, tier):
    ids = _through_every_tier(house, "the {} flight to Samarkand leaves at noon")
    unique = ids[tier][1]

    did = house.om.erase("harold", message_id=unique)

    assert [message.id for message in did.messages] == [unique]
    assert f"the {tier} flight" not in _whole_store(house)
    assert house.covering() == sorted(name for names in ids.values() for name in names if name != unique)
    text = house.context().text
    assert all(f"{other} behind" in text for other in TIERS if other != tier)
    assert house.om.verify() == []


def test_an_observation_that_was_reflected_is_forgotten_with_what_the_generation_tells_of_it(house):
    ids = _through_every_tier(house, "the {} flight to Samarkand leaves at noon")
    (era,) = house.om.history("harold")
    gone = set(era.replaced[0].message_ids)

    assert house.om.forget(era.replaced[0].id, "harold") is Outcome.CLEARED

    assert "reflected flight" not in _whole_store(house)
    assert house.covering() == sorted(name for names in ids.values() for name in names if name not in gone)
    assert house.om.generations("harold")[0].dropped_ids == (era.replaced[0].id,)
    assert house.om.verify() == []


def test_what_a_model_makes_of_it_meanwhile_is_refused(house):
    said = house.say("one", f"the password is {SECRET}", "three")
    _Moves.seal(house)
    verb, given = house.dispatch.queue.popleft()
    answer = house.model.complete

    def overtaken(request):
        reply = answer(request)
        house.om.erase("harold", matching=SECRET)
        return reply

    house.model.complete = overtaken
    house.perform(verb, *given)
    house.model.complete = answer
    assert SECRET not in _whole_store(house)
    house.settle()

    assert house.covering() == sorted([said[0], said[2]])
    assert SECRET not in _whole_store(house)
    assert house.om.verify() == []


def test_what_a_model_was_shown_of_it_beside_other_messages_is_not_noted_anew(house):
    house.say(f"the password is {SECRET}")
    house.om.force_observe("t-1", "harold")
    house.settle()
    said = house.say("something else")
    _Moves.seal(house)
    verb, given = house.dispatch.queue.popleft()
    answer = house.model.complete

    def repeats(request):
        house.om.erase("harold", matching=SECRET)
        reply = answer(request)
        return type(reply)(text=reply.text.replace("something", f"{SECRET} and something"), model=reply.model)

    house.model.complete = repeats
    house.perform(verb, *given)
    house.model.complete = answer
    house.settle()

    assert SECRET not in _whole_store(house)
    assert house.covering() == said


def test_a_reflection_thought_of_it_is_not_committed(house):
    house.say("one", f"the password is {SECRET}")
    house.om.force_observe("t-1", "harold")
    house.settle()
    answer = house.model.complete

    def overtaken(request):
        reply = answer(request)
        house.om.erase("harold", matching=SECRET)
        return reply

    house.om.force_reflect("harold", "t-1")
    house.model.complete = overtaken
    house.tick_forgiving()
    house.model.complete = answer
    house.settle()

    assert SECRET not in _whole_store(house)
    assert house.om.verify() == []


def test_a_dry_run_tells_the_same_and_changes_nothing(house):
    _through_every_tier(house, "the password is Hunter2, said {}")
    before = contents(house.client, f"{house.prefix}*")

    told = house.om.erase("harold", matching=SECRET, dry_run=True)

    assert contents(house.client, f"{house.prefix}*") == before
    did = house.om.erase("harold", matching=SECRET)
    assert (did.messages, did.counts()) == (told.messages, told.counts())
    assert house.om.erase("harold", matching=SECRET).outcome is Outcome.REST


def test_what_was_rejected_and_what_waits_for_adoption_goes_too(house):
    key = f"{house.prefix}:{{harold}}:messages:t-1"
    plain = [
        json.dumps({"id": "p-1", "role": "user", "content": f"plainly {SECRET}"}),
        json.dumps({"id": "p-2", "role": "robot", "content": f"oddly {SECRET}"}),
        json.dumps({"id": "p-3", "role": "user", "content": "kept"}),
    ]
    house.client.zadd(key, {member: 1763600000000 + n for n, member in enumerate(plain)})
    house.client.zadd(f"{house.prefix}:adopt", {key: 0})

    did = house.om.erase("harold", matching=SECRET)

    assert ([message.id for message in did.messages], len(did.rejected)) == (["p-1"], 1)
    assert SECRET not in _whole_store(house)
    assert house.covering() == ["p-3"]
    assert house.om.verify() == []


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "name what is to be erased"),
        ({"matching": "x", "message_id": "m-1"}, "name what is to be erased"),
        ({"matching": " \n"}, "there is no text to look for"),
        ({"matching": "x", "thread_id": "t-1"}, "leave thread_id out"),
        ({"message_id": "m-9"}, "harold keeps no message m-9"),
        ({"message_id": "m-1", "thread_id": "t-9"}, "thread t-9 of harold keeps no message m-1"),
        ({"message_id": "m-1"}, "m-1 is a message of 2 threads, t-1, t-2"),
    ],
)
def test_what_cannot_be_erased_is_said_and_nothing_changes(house, asked, why):
    for thread in ("t-1", "t-2"):
        house.say("hello", thread=thread, id="m-1")
    before = contents(house.client, f"{house.prefix}*")

    with pytest.raises(InvalidInputError, match=why):
        house.om.erase("harold", **asked)

    assert contents(house.client, f"{house.prefix}*") == before
