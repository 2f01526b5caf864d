"""A batch is parted by slots, and its replies are put in order again."""

from redis.exceptions import ExecAbortError, MovedError, ResponseError

from om_api.store.driver.slot_parts import in_order, parted
from om_api.store.driver.steps import Batch, Node, at, pack


def test_each_slot_is_asked_for_its_own_and_the_clock_is_that_of_the_first():
    batch = Batch([("TIME",), ("GET", "{b}1"), ("GET", "{a}1"), ("GET", "{b}2")])
    b, a = parted(batch)

    assert (b.commands, b.places) == ([("TIME",), ("GET", "{b}1"), ("GET", "{b}2")], [0, 1, 3])
    assert (a.commands, a.places) == ([("GET", "{a}1")], [2])
    assert (b.multi, a.multi) == (True, False)


def test_what_is_written_to_a_slot_is_done_or_not_as_one():
    for batch, multi in (
        (Batch([("GET", "a"), ("GET", "a")], atomic=False), False),
        (Batch([("SET", "a", 1), ("EXPIRE", "a", 1)], atomic=False, writes=True), True),
        (Batch([("SET", "a", 1)], writes=True), False),
        (at(Node("n:1"), Batch([("INFO",)])), False),
    ):
        (part,) = parted(batch)
        assert part.multi is multi, batch


def test_whoever_is_asked_before_a_slot_has_arrived_is_told_that_we_know():
    (part,) = parted(Batch([("GET", "a"), ("GET", "a")], atomic=False))
    part.asking = True

    assert part.wire() == pack([("ASKING",)], atomic=False) + pack(part.commands)
    assert part.expected == 5


def test_replies_come_in_the_order_of_the_commands_and_in_redis_pys_types():
    batch = Batch([("GET", "b"), ("EXPIRE", "a", 1), ("GET", "b")], atomic=False)
    b, a = parted(batch)
    b.take([b"1", b"2"])
    a.take([1])

    assert in_order(batch, [b, a], {"EXPIRE": bool}) == [b"1", True, b"2"]
    assert a.replies == [1]


def test_a_refusal_within_multi_is_that_of_the_part_and_its_first_word_counts():
    moved, wrong = MovedError("12 127.0.0.1:7001"), ResponseError("value is not an integer")
    for replies, error in (
        ([b"OK", moved, b"QUEUED", ExecAbortError("because of MOVED")], moved),
        ([b"OK", b"QUEUED", b"QUEUED", [b"x", wrong]], wrong),
    ):
        (part,) = parted(Batch([("GET", "a"), ("INCR", "a")]))
        part.take(replies)
        assert part.error is error
