"""A history that did not only go on was taken for one that did, or was not found again: its messages were kept twice."""

import pytest
from world import World

from om_api import Message


@pytest.fixture
def house(client, prefix):
    return World(client, prefix)


def _sync(house, *texts):
    """By a client that remembers nothing; a text may have an id: "id=text"."""
    named = [text.rpartition("=")[::2] for text in texts]
    messages = [Message(role="user", content=text, id=name) for name, text in named]
    return type(house).face(house.settings, client=house.client).sync(messages, "harold", "t-1")


def _texts(house):
    return [message.content for message in house.context().messages]


def test_an_edited_message_without_an_id_before_one_that_has_one_is_no_new_one(house):
    _sync(house, "one", "m-2=two")
    synced = _sync(house, "uno", "m-2=two")

    assert (synced.added, synced.known, [each.id for each in synced.changed]) == (0, 1, [synced.ids[0]])
    assert _texts(house) == ["one", "two"]


def test_an_edited_message_that_has_an_id_says_from_where_on(house):
    _sync(house, "m-1=one", "m-2=two", "m-3=three")
    synced = _sync(house, "m-1=one", "m-2=dos", "m-3=three")

    assert ([each.id for each in synced.changed], synced.diverged_at) == (["m-2"], 1)


def test_behind_instructions_it_is_the_position_in_what_was_given(house):
    _sync(house, "m-1=one", "m-2=two")
    told = [
        Message(role="system", content="be brief"),
        *[Message(role="user", content=text, id=name) for name, text in {"m-1": "one", "m-2": "dos"}.items()],
    ]

    assert house.om.sync(told, "harold", "t-1").diverged_at == 2


def test_a_beginning_that_is_told_later_stands_before_the_rest_and_is_found_again(house):
    """Time 0: a client syncs its newest messages. Time 1: another one syncs all. Time 2: it does so again."""
    _sync(house, "three")
    _sync(house, "one", "two", "three", "four")
    synced = _sync(house, "one", "two", "three", "four")

    assert (synced.added, synced.known, synced.diverged_at) == (0, 4, None)
    assert _texts(house) == ["one", "two", "three", "four"]
