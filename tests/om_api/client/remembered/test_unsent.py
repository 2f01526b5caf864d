"""What waits for a store that is away: the newest, within bounds, and each forgotten by whoever sent it."""

from om_api import Message
from om_api.client.remembered.unsent import Unsent
from om_api.domain.wire import EncodedMessage, encode_message


def encoded(n, text="hello"):
    message = Message(role="user", content=text, id=f"m-{n}", thread_id="t-1", resource_id="harold")
    return EncodedMessage(message, encode_message(message))


def ids(unsent):
    return [each.message.id for each in unsent]


def test_the_oldest_go_where_too_many_wait_and_how_many_is_said_once():
    unsent = Unsent(most=2)
    unsent.extend(encoded(n) for n in range(5))

    assert ids(unsent) == ["m-3", "m-4"]
    assert [unsent.told(), unsent.told()] == [3, 0]


def test_the_bytes_that_wait_are_those_that_will_be_sent():
    first, second = encoded(1, "x" * 60), encoded(2, "y" * 60)
    unsent = Unsent(most_bytes=len(first.member) + len(second.member) - 1)
    unsent.extend([first])
    assert unsent.weight == len(first.member)
    unsent.extend([second])

    assert (ids(unsent), unsent.weight) == (["m-2"], len(second.member))


def test_only_what_was_sent_is_forgotten():
    unsent = Unsent()
    unsent.extend(map(encoded, range(2)))
    sent = list(unsent)
    unsent.extend([encoded(2)])
    unsent.sent(sent)

    assert ids(unsent) == ["m-2"]
    assert unsent.weight == len(encoded(2).member)
