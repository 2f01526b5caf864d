"""Ids of messages without one: what is repeated at once is known again, what is said again later is new."""

from om_api.domain.messages import Message
from om_api.mcp.message_ids import names_of


def said(*texts, name=""):
    return [Message(role="user", content=text, id=name, thread_id="t", resource_id="r") for text in texts]


def kept(texts, names):
    return [Message(role="user", content=text, id=name) for text, name in zip(texts, names, strict=True)]


def test_the_end_of_a_thread_said_again_has_its_ids_and_what_stands_elsewhere_is_new():
    there = kept(["a", "b", "c"], ["m-1", "m-2", "m-3"])

    assert names_of(said("b", "c"), there) == ["m-2", "m-3"]
    assert names_of(said("a", "b", "c"), there) == ["m-1", "m-2", "m-3"]
    assert names_of(said("c", name="m-7"), there) == ["m-7"]
    assert not {*names_of(said("a"), there), *names_of(said("c", "b"), there)} & {"m-1", "m-2", "m-3"}
