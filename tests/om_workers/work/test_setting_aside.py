"""Setting aside: the same script as for a reflection commits it, so what happened meanwhile decides; and when modes change."""

import json

import pytest
from world import World

from om_api.domain.notes.catalogue import INTRO
from om_api.domain.values import Outcome, Scope
from om_api.store.reviews.drafts import reflection_input
from om_workers.work.committing import Thought
from om_workers.work.setting_aside import set_aside

HAROLD = Scope("harold")


@pytest.fixture
def world(client, prefix):
    return _world(client, prefix)


def _world(client, prefix, **changed):
    fields = {"message_threshold": "400", "observation_threshold": "400", "reflection__drain": "false", **changed}
    return World(client, prefix, **{"reflection__mode": "archive", **fields})


def _fill(world, turns, start=0):
    for n in range(start, start + turns):
        world.say(f"fact number{n} of it " + "and more " * 8)
        world.tick()


def _read(world):
    return world.services.run(reflection_input(world.services.keys, HAROLD))


def _thought(world, read):
    return Thought(set_aside(read, world.services.agent(HAROLD), world.services.count, everything=True))


def test_an_activation_meanwhile_stays_in_view(world):
    _fill(world, 8)
    read = _read(world)
    thought = _thought(world, read)
    world.say("something new", "and more", tokens=400)
    world.om.force_observe("t-1", "harold")
    world.tick()
    world.work()
    new = {own.id for own in world.om.observations("harold")} - {stored.observation.id for stored in read.stored}

    assert new
    assert world.reflector()._committer.settle(read, thought)[0] is Outcome.REFLECTED
    assert {own.id for own in world.om.observations("harold")} == new
    assert world.om.verify() == []


def test_of_two_that_set_aside_at_once_the_second_changes_nothing(world):
    _fill(world, 8)
    read = _read(world)
    first, second = _thought(world, read), _thought(world, read)
    committer = world.reflector()._committer

    assert committer.settle(read, first)[0] is Outcome.REFLECTED
    before = world.om.history("harold")
    assert committer.settle(read, second)[0] is Outcome.SUPERSEDED
    assert world.om.history("harold") == before


def test_a_note_that_is_corrected_meanwhile_is_not_set_aside_as_it_was(world):
    world.om.add_line("lives in Oslo", "harold", "t-1")
    read = _read(world)
    thought = _thought(world, read)
    world.om.correct_line("lives in Oslo", "lives in Bergen", "harold")

    assert world.reflector()._committer.settle(read, thought)[0] is Outcome.SUPERSEDED
    assert world.om.generations("harold") == []


def test_a_line_that_is_pinned_meanwhile_stays_in_view(world):
    world.om.add_line("lives in Oslo", "harold", "t-1")
    read = _read(world)
    thought = _thought(world, read)
    world.om.pin("lives in Oslo", "harold")

    assert world.reflector()._committer.settle(read, thought)[0] is Outcome.REFLECTED
    assert "🟡 lives in Oslo" in world.om.generations("harold")[-1].text.split(INTRO)[1]
    assert world.om.verify() == []


def test_a_draft_that_a_model_thought_before_is_not_committed(client, prefix):
    world = _world(client, prefix, reflection__mode="condense", observation_threshold="800")
    while not client.exists(f"{prefix}:{{harold}}:draft"):
        _fill(world, 1)
    world = _world(client, prefix, observation_threshold="800")
    _fill(world, 30)

    assert {each.origin for each in world.om.generations("harold")} == {"archive"}
    assert not client.exists(f"{prefix}:{{harold}}:draft")


def test_a_reflection_that_waits_for_its_review_counts_first(client, prefix):
    world = _world(client, prefix, reflection__mode="condense", reflection__review="ask")
    while not world.om.reviews():
        _fill(world, 1)
    world = _world(client, prefix)
    world.settle()
    _fill(world, 20)

    assert [each.origin for each in world.om.generations("harold")][:2] == ["reflection", "archive"]
    assert world.om.reviews() == []
    assert world.om.verify() == []


def test_one_that_was_sent_back_is_set_aside_and_no_model_thinks_again(client, prefix):
    world = _world(client, prefix, reflection__mode="condense", reflection__review="ask")
    while not world.om.reviews():
        _fill(world, 1)
    world.om.send_back("harold", proposal=world.om.reviews()[0].id, comment="no")
    world = _world(client, prefix)
    world.settle()
    _fill(world, 30)

    assert {each.origin for each in world.om.generations("harold")} == {"archive"}
    assert not [each for each in world.model.requests if each.purpose == "reflect"]
    assert world.om.verify() == []


def test_nothing_is_set_aside_of_an_agent_that_is_paused_or_below_its_threshold(world):
    _fill(world, 6)
    world.settle()
    made = len(world.om.generations("harold"))
    world.om.pause("harold")
    _fill(world, 30, start=6)

    assert len(world.om.generations("harold")) == made


def test_where_everything_fits_beside_the_newest_nothing_is_set_aside(world):
    world.om.add_line("lives in Oslo", "harold", "t-1")

    assert set_aside(_read(world), world.services.agent(HAROLD), world.services.count, everything=False) is None


def test_what_a_model_condensed_after_an_undo_is_in_no_group_any_more(client, prefix, world):
    _fill(world, 40)
    assert world.om.groups("harold")
    world.om.restore("harold", 0)
    condensing = _world(client, prefix, reflection__mode="condense")
    condensing.om.force_reflect("harold")
    condensing.settle()

    assert condensing.om.generations("harold")[-1].origin == "reflection"
    assert condensing.om.groups("harold") == []
    assert condensing.om.verify() == []


def test_verify_finds_a_group_that_would_expire_and_a_history_that_would_not(client, prefix, world):
    _fill(world, 40)
    key = f"{prefix}:{{harold}}:reflected:1"
    client.expire(key, 1_000)
    assert [breach.what for breach in world.om.verify()] == ["would expire, and what was set aside in it be lost"]

    client.persist(key)
    for member, seq in client.zrange(key, 0, -1, withscores=True):
        client.zrem(key, member)
        client.zadd(key, {json.dumps({**json.loads(member), "group": ""}): seq})
    assert [breach.what for breach in world.om.verify()] == ["has no TTL and would stay for ever"]
