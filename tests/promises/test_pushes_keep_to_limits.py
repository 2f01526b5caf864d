"""No agent takes more than its limits permit: what comes too fast is refused whole, and is taken when it was said."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api import Message, RateLimitedError
from om_api.store.fleet import event_stream


@pytest.fixture
def house(client, prefix):
    """A house whose agents take two messages a minute on average, and one at once."""
    return World(client, prefix, push_limits__messages_per_second="0.03")


def said(text, resource="harold", name=""):
    return Message(id=name, role="user", content=text, thread_id="t-1", resource_id=resource)


def shown(world, resource="harold"):
    return [message.content for message in world.context("t-1", resource).messages]


def minutes_later(world, minutes, resource="harold"):
    world.client.hincrby(world.services.keys.of(resource).pace, "at", -minutes * 60_000)


def test_what_comes_too_fast_is_refused_whole_and_taken_when_it_was_said(house):
    house.om.add_message(said("one"))
    with pytest.raises(RateLimitedError, match=r"push_limits.*repeat the call with the same ids in") as refused:
        house.om.add_messages([said("two"), said("three")])
    assert 30 < refused.value.retry_after < 34
    assert shown(house) == ["one"]
    minutes_later(house, 1)
    house.om.add_messages([said("two"), said("three")])
    assert shown(house) == ["one", "two", "three"]


def test_a_copy_that_is_refused_leaves_no_key(house):
    """Catches keys that no list shows, no limit counts and no clear removes."""
    house.om.add_message(said("one"))
    house.om.set_thread("harold", "t-1", metadata={"project": "roof"})
    keys = house.client.keys("*{harold}*")
    with pytest.raises(RateLimitedError):
        house.om.copy_thread("t-1", "t-2", "harold")
    assert {*house.client.keys("*{harold}*")} == {*keys}
    minutes_later(house, 1)
    assert house.om.copy_thread("t-1", "t-2", "harold").messages == 1


def test_a_history_is_synced_when_there_is_room_for_what_is_new(house):
    history = [{"role": "user", "content": f"turn {n}"} for n in range(3)]
    house.om.sync(history, "harold", "t-1")
    assert house.om.sync(history, "harold", "t-1").known == 3
    history.append({"role": "user", "content": "turn 3"})
    with pytest.raises(RateLimitedError):
        house.om.sync(history, "harold", "t-1")
    assert shown(house) == ["turn 0", "turn 1", "turn 2"]
    (counted,) = house.services.run(event_stream.counted(house.services.keys, ["harold"]))
    assert counted["refused"] == 1
    minutes_later(house, 2)
    assert house.om.sync(history, "harold", "t-1").added == 1
    assert shown(house) == ["turn 0", "turn 1", "turn 2", "turn 3"]


def test_an_agent_that_is_limited_holds_up_no_other_of_one_call(house):
    house.om.add_message(said("one"))
    with pytest.raises(RateLimitedError, match="Of 3 messages 2 of other resources are kept") as refused:
        house.om.add_messages([said("a", "ada"), said("two"), said("b", "bert")])
    assert refused.value.stored is None
    assert [shown(house, name) for name in ("harold", "ada", "bert")] == [["one"], ["a"], ["b"]]


def test_a_call_of_more_than_one_step_is_taken_or_refused_as_one(house):
    many = [said(f"turn {n}", name=f"m-{n}") for n in range(501)]
    assert house.om.add_messages(many).added == 501
    with pytest.raises(RateLimitedError):
        house.om.add_messages([said(f"more {n}") for n in range(501)])
    assert house.client.zcard(house.services.keys.of("harold").messages("t-1")) == 501


def test_an_agent_that_fails_open_sends_what_came_too_fast_when_there_is_room(house, face):
    om = face(house.settings, client=house.client, fail_open=True)
    om.add_message(said("one"))
    with capture_logs() as logs:
        receipt = om.add_message(said("two"))
    assert (receipt.added, [each["event"] for each in logs]) == (0, ["push_limited"])
    minutes_later(house, 1)
    om.add_message(said("three"))
    assert shown(house) == ["one", "two", "three"]
