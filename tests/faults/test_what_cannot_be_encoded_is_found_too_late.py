"""A lone surrogate is found when it is sent, not when it is checked: others were written, and fail-open never recovers."""

import pytest
import redis
from world import World

from om_api import Message, ObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.store.driver.connection import Connection

BAD = ["\ud800", [{"type": "tool-call", "tool_call_id": "1", "args": object()}], None]


def _message(content, resource):
    return Message(role="user", content=content, thread_id="t", resource_id=resource)


@pytest.mark.parametrize("content", BAD)
def test_a_message_that_cannot_be_kept_is_refused_and_none_is_added(client, prefix, content):
    house = World(client, prefix)
    with pytest.raises(InvalidInputError):
        house.om.add_messages([_message("good", "a"), _message(content, "b")])
    assert house.covering("a") == []


class Away(Connection):
    def __init__(self, client):
        super().__init__(client)
        self._endpoint.ask = self._unanswered

    def _unanswered(self, _):
        raise redis.ConnectionError("away")


def test_fail_open_recovers_from_it(client, prefix):
    house = World(client, prefix)
    om = ObservationalMemory(house.settings, fail_open=True, client=client)
    alive, om._connection = om._connection, Away(client)
    om.add_message(_message("good", "a"))
    with pytest.raises(InvalidInputError):
        om.add_message(_message("\ud800", "b"))
    om._connection = alive
    assert [message.content for message in om.get_context("t", "a").messages] == ["good"]
