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
            world.observe_now()
        if tier == "reflected":
            world.reflect_now("harold", "t-1")
            assert world.om.generations("harold")
    return ids


class _Moves:
    @staticmethod
    def seal(world):
        world.om.force_observe("t-1", "harold")
        world.claim()
        world.perform(*world.next_task())

    @staticmethod
    def note(world):
        world.perform(*world.next_task())


def _whole_store(world):
    return repr(contents(world.client, f"{world.prefix}*")).casefold()


def test_a_text_is_gone_from_every_tier_event_and_export(house):
    ids = _through_every_tier(house, "the password is Hunter2, said {}")
    before = contents(house.client, f"{house.prefix}*")
    assert repr(before).casefold().count(SECRET) > len(TIERS)
    told = house.om.erase("harold", matching="the PASSWORD  is hunter2", dry_run=True)
    assert contents(house.client, f"{house.prefix}*") == before
    did = house.om.erase("harold", matching="the PASSWORD  is hunter2")
    secret = {names[1] for names in ids.values()}
    kept = sorted(name for names in ids.values() for name in names if name not in secret)
    assert (did.outcome, did.messages, did.counts()) == (Outcome.CLEARED, told.messages, told.counts())
    assert {message.id for message in did.messages} == secret
    assert SECRET not in _whole_store(house)
    assert SECRET not in b"".join(house.om.export_memory("harold")).decode().casefold()
    assert (house.covering(), house.om.verify()) == (kept, [])
    assert house.om.erase("harold", matching=SECRET).outcome is Outcome.REST
    # a history that is sent again does not bring it back, and what is left is observed again without it
    place = {"thread_id": "t-1", "resource_id": "harold", "tokens": 100}
    history = []
    for tier, names in ids.items():
        said = f"{tier} before", f"the password is Hunter2, said {tier}", f"{tier} behind"
        history += [Message(role="user", content=text, id=one, **place) for one, text in zip(names, said, strict=True)]
    assert house.om.add_messages(history).added == 0
    assert house.om.sync(history, resource_id="harold", thread_id="t-1").added == 0
    house.observe_now()
    text = house.context().text
    assert all(f"[{names[0]}]" in text and f"[{names[2]}]" in text for names in ids.values())
    assert SECRET not in _whole_store(house)
    assert house.om.verify() == []


def test_an_observation_that_was_reflected_is_forgotten_with_what_the_generation_tells_of_it(house):
    ids = _through_every_tier(house, "the {} flight to Samarkand leaves at noon")
    (era,) = house.om.history("harold")
    gone = set(era.replaced[0].message_ids)
    assert house.om.forget(era.replaced[0].id, "harold") is Outcome.CLEARED
    assert "reflected flight" not in _whole_store(house)
    assert house.covering() == sorted(name for names in ids.values() for name in names if name not in gone)
    assert (house.om.generations("harold")[0].dropped_ids, house.om.verify()) == ((era.replaced[0].id,), [])


def _erased_while_a_model_thinks(house, perform):
    house.while_it_thinks(lambda: house.om.erase("harold", matching=SECRET))
    perform()
    assert SECRET not in _whole_store(house)
    house.settle()


def test_what_an_observer_or_a_reflector_makes_of_it_meanwhile_is_refused(house):
    said = house.say("one", f"the password is {SECRET}", "three")
    _Moves.seal(house)
    verb, given = house.dispatch.queue.popleft()
    _erased_while_a_model_thinks(house, lambda: house.perform(verb, *given))
    assert house.covering() == sorted([said[0], said[2]])
    assert SECRET not in _whole_store(house)
    house.say("four", f"the password is {SECRET}")
    house.observe_now()
    house.om.force_reflect("harold", "t-1")
    _erased_while_a_model_thinks(house, house.tick_forgiving)
    assert SECRET not in _whole_store(house)
    assert house.om.verify() == []


def test_what_was_rejected_and_what_waits_for_adoption_goes_too(house):
    key = f"{house.prefix}:{{harold}}:messages:t-1"
    plain = [json.dumps({"id": "p-1", "role": "user", "content": f"plainly {SECRET}"}),
        json.dumps({"id": "p-2", "role": "robot", "content": f"oddly {SECRET}"}),
        json.dumps({"id": "p-3", "role": "user", "content": "kept"})]  # fmt: skip
    house.client.zadd(key, {member: 1763600000000 + n for n, member in enumerate(plain)})
    house.client.zadd(f"{house.prefix}:adopt", {key: 0})
    did = house.om.erase("harold", matching=SECRET)
    assert ([message.id for message in did.messages], len(did.rejected)) == (["p-1"], 1)
    assert SECRET not in _whole_store(house)
    assert (house.covering(), house.om.verify()) == (["p-3"], [])


def test_what_cannot_be_erased_is_said_and_nothing_changes(house):
    for thread in ("t-1", "t-2"):
        house.say("hello", thread=thread, id="m-1")
    before = contents(house.client, f"{house.prefix}*")
    refused = [({}, "name what is to be erased"), ({"matching": "x", "message_id": "m-1"}, "name what is to be erased"),
        ({"matching": " \n"}, "there is no text to look for"),
        ({"matching": "x", "thread_id": "t-1"}, "leave thread_id out"),
        ({"message_id": "m-9"}, "harold keeps no message m-9"),
        ({"message_id": "m-1", "thread_id": "t-9"}, "thread t-9 of harold keeps no message m-1"),
        ({"message_id": "m-1"}, "m-1 is a message of 2 threads, t-1, t-2")]  # fmt: skip
    for asked, why in refused:
        with pytest.raises(InvalidInputError, match=why):
            house.om.erase("harold", **asked)
    assert contents(house.client, f"{house.prefix}*") == before


def test_a_message_is_gone_with_what_was_noted_of_it_and_nothing_else_is(house):
    ids = _through_every_tier(house, "the {} flight to Samarkand leaves at noon")
    left = {name for names in ids.values() for name in names}
    for n, tier in enumerate(TIERS):
        did = house.om.erase("harold", message_id=ids[tier][1])
        left.remove(ids[tier][1])
        assert [message.id for message in did.messages] == [ids[tier][1]]
        assert f"the {tier} flight" not in _whole_store(house), tier
        assert house.covering() == sorted(left), tier
        text = house.context().text
        assert all(f"{other} behind" in text for other in TIERS[n + 1 :]), tier
        assert house.om.verify() == [], tier
