"""The aliases that a client has met: they only place messages, and are forgotten when the store says otherwise."""

from om_api import Message
from om_api.client.remembered.known_aliases import KnownAliases
from om_api.domain.wire import EncodedMessage


def given(*threads):
    return [
        EncodedMessage(Message(role="user", content=name, thread_id=name, resource_id="harold"), name.encode())
        for name in threads
    ]


def test_messages_come_under_their_threads_and_the_aliases_are_told():
    known = KnownAliases()
    known.learn("harold", "b", "a")
    messages = given("a", "b", "c")
    placed, through = known.placed("harold", messages)

    assert [each.message.thread_id for each in placed] == ["a", "a", "c"]
    assert [each.member for each in placed] == [each.member for each in messages]
    assert (through, messages[1].message.thread_id) == ({"b": "a"}, "b")
    assert known.placed("ingrid", given("b"))[1] == {}


def test_what_is_no_alias_any_more_is_forgotten():
    known = KnownAliases()
    known.learn("harold", "b", "a")
    known.learn("harold", "b", "")
    assert known.thread("harold", "b") == "b"
    known.learn("harold", "b", "a")
    known.learn("harold", "b", "b")
    assert known.thread("harold", "b") == "b"
