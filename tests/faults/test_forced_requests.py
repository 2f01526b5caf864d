"""A request to observe is answered once what it was made for is observed, and never before."""

from om_api import Message


def _requests(house):
    records = house.client.scan_iter(f"{house.prefix}:{{harold}}:record*")
    return [name for key in records for name in house.client.hkeys(key) if name.startswith(b"force")]


def _raw(house):
    return house.client.zcard(f"{house.prefix}:{{harold}}:messages:t-1")


def test_a_request_made_while_an_activation_is_due_is_answered_when_its_messages_are_observed(house):
    """Breaks when a look that first activates counts every forced request as handled."""
    house.say(*(f"m{n}" for n in range(8)))
    house.settle()
    house.say("m8", "m9", "m10", tokens=90)  # the window is full, four chunks are ready
    house.observe_now()
    assert (_requests(house), _raw(house)) == ([], 0)


def test_a_forced_request_takes_messages_that_weigh_nothing_and_leaves_an_unanswered_call_raw(house):
    house.say("a", "b")
    house.say("c", "d", "e", tokens=0)
    house.observe_now()
    assert (_requests(house), _raw(house)) == ([], 0)
    call = {"type": "tool-call", "tool_call_id": "c-1", "name": "search", "args": {}}
    house.om.add_message(Message(role="assistant", content=[call], thread_id="t-1", resource_id="harold"))
    house.observe_now()
    assert (_requests(house), _raw(house)) == ([], 1)
