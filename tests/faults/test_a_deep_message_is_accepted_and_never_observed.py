"""A push took about 900 levels of JSON; a worker, whose stack was deeper, could not read it: never observed, never rejected."""

import json

import pytest
from world import World

from om_api import InvalidInputError, Message
from om_api.domain.wire import MAX_DEPTH


def _nested(levels):
    value = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def _message(levels, text="x"):
    return Message(
        role="user", content=text, id="deep", thread_id="t-1", resource_id="harold", metadata=_nested(levels)
    )


def test_what_nests_deeper_than_every_reader_can_follow_is_refused(client, prefix):
    house = World(client, prefix)

    with pytest.raises(InvalidInputError, match=f"deeper than {MAX_DEPTH} levels"):
        house.om.add_message(_message(MAX_DEPTH))
    assert list(client.scan_iter(f"{prefix}:{{harold}}*")) == []


def test_brackets_in_a_text_are_no_levels(client, prefix):
    house = World(client, prefix)

    assert house.om.add_message(_message(MAX_DEPTH - 1, text='[{"' * 500)).added == 1
    assert [message.id for message in house.context().messages] == ["deep"]


def test_a_plain_writers_deep_member_is_quarantined_with_this_reason(client, prefix):
    house = World(client, prefix)
    member = json.dumps({"id": "deep", "role": "user", "content": "x", "metadata": _nested(MAX_DEPTH)})
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {member: 1763600000000})

    house.sweep()

    (entry,) = house.om.rejected("harold")
    assert f"deeper than {MAX_DEPTH} levels" in entry.reason
