"""A batch is parted by slots, and its replies are put in order again."""

import pytest
from redis.exceptions import ExecAbortError, MovedError, ResponseError

from om_api.store.driver.slot_parts import in_order, parted
from om_api.store.driver.steps import Batch, Node, at, pack


def test_each_slot_is_asked_for_its_own_and_the_clock_is_that_of_the_first():
    batch = Batch([("TIME",), ("GET", "{b}1"), ("GET", "{a}1"), ("GET", "{b}2")])
    b, a = parted(batch)

    assert (b.commands, b.places) == ([("TIME",), ("GET", "{b}1"), ("GET", "{b}2")], [0, 1, 3])
    assert (a.commands, a.places) == ([("GET", "{a}1")], [2])
    assert (b.multi, a.multi) == (True, False)


@pytest.mark.parametrize(
    ("batch", "multi"),
    [
        (Batch([("GET", "a"), ("GET", "a")], atomic=False), False),
        (Batch([("SET", "a", 1), ("EXPIRE", "a", 1)], atomic=False, writes=True), True),
        (Batch([("SET", "a", 1)], writes=True), False),
        (at(Node("n:1"), Batch([("INFO",)])), False),
    ],
)
def test_what_is_written_to_a_slot_is_done_or_not_as_one(batch, multi):
    (part,) = parted(batch)

    assert part.multi is multi


def test_a_node_that_is_named_is_asked_whatever_the_slot():
    (part,) = parted(at(Node("n:1"), Batch([("ACL", "USERS"), ("GET", "a")], atomic=False)))

    assert (part.slot, part.at) == (None, "n:1")


def test_what_was_packed_goes_as_it_is_while_it_is_of_one_slot():
    commands = [("GET", "{a}1"), ("GET", "{a}2")]
    (part,) = parted(Batch(commands, packed=pack(commands)))
    parts = parted(Batch([*commands, ("GET", "b")], packed=b"never sent"))

    assert part.wire() == pack(commands)
    assert b"never sent" not in b"".join(each.wire() for each in parts)


def test_whoever_is_asked_before_a_slot_has_arrived_is_told_that_we_know():
    (part,) = parted(Batch([("GET", "a"), ("GET", "a")], atomic=False))
    part.asking = True

    assert part.wire() == pack([("ASKING",)], atomic=False) + pack(part.commands)
    assert part.expected == 5


def test_a_name_of_two_words_is_sent_as_two():
    (part,) = parted(Batch([("SCRIPT EXISTS", "x")]))

    assert part.wire() == pack([("SCRIPT", "EXISTS", "x")], atomic=False)


def test_a_refusal_within_multi_is_that_of_the_part_and_its_first_word_counts():
    (part,) = parted(Batch([("GET", "a"), ("GET", "a")]))
    moved = MovedError("12 127.0.0.1:7001")
    part.take([b"OK", moved, b"QUEUED", ExecAbortError("because of MOVED")])

    assert (part.error, part.replies) == (moved, None)


def test_a_refusal_of_what_was_done_within_multi_is_found_too():
    (part,) = parted(Batch([("GET", "a"), ("INCR", "a")]))
    wrong = ResponseError("value is not an integer")
    part.take([b"OK", b"QUEUED", b"QUEUED", [b"x", wrong]])

    assert part.error is wrong


def test_replies_come_in_the_order_of_the_commands_and_in_redis_pys_types():
    batch = Batch([("GET", "b"), ("EXPIRE", "a", 1), ("GET", "b")], atomic=False)
    b, a = parted(batch)
    b.take([b"1", b"2"])
    a.take([1])

    assert in_order(batch, [b, a], {"EXPIRE": bool}) == [b"1", True, b"2"]
    assert a.replies == [1]
