"""Where keys go on a Cluster."""

from redis.crc import key_slot
from redis.exceptions import ExecAbortError, MovedError, ResponseError

from om_api.store.driver.scripts import absent
from om_api.store.driver.slot_parts import in_order, parted
from om_api.store.driver.slots import SlotMap, addresses_of, slot_of
from om_api.store.driver.steps import Batch, Node, at, pack


def test_a_map_says_who_serves_a_slot_and_who_only_follows():
    said = SlotMap(
        [[0, 99, [b"10.0.0.1", 7000, b"id"], [b"10.0.0.2", 7001, b"id"]], [200, 200, [b"", 7002, b"id"]]], "me:1"
    )

    assert [said.owner(slot) for slot in (0, 99, 100, 200)] == ["10.0.0.1:7000", "10.0.0.1:7000", None, "me:7002"]
    assert said.nodes == (Node("10.0.0.1:7000"), Node("10.0.0.2:7001", primary=False), Node("me:7002"))


def test_every_node_is_told_of_those_too_that_are_down():
    """A node that was dead when a user was ended would let it in again: it must be asked, and be an error."""
    for form in (dict, lambda told: [word for pair in told.items() for word in pair]):

        def node(name, role, form=form):
            return form({b"endpoint": name, b"port": 7000, b"tls-port": 7001, b"role": role})

        nodes = [node(b"10.0.0.1", b"master"), node(b"10.0.0.2", b"replica")]
        shards = [form({b"slots": [0, 99], b"nodes": nodes}), form({b"slots": [], b"nodes": [node(b"", b"master")]})]
        for secure in (False, True):
            found = addresses_of(shards, "me:1", secure=secure)
            assert found == [f"{host}:{7000 + secure}" for host in ("10.0.0.1", "10.0.0.2", "me")]


def test_a_command_is_of_its_first_keys_slot_or_of_none():
    for command in (
        ("GET", "om:{a}:x"),
        ("ZADD", "om:{a}:x", 1, "om:{b}:x"),
        ("EVALSHA", "0" * 40, 2, "om:{a}:x", "om:{a}:y", "om:{b}:x"),
        ("XREAD", "COUNT", 1, "BLOCK", 10, "STREAMS", "om:{a}:x", "$"),
        ("EXISTS", b"om:{a}:x"),
    ):
        assert slot_of(command) == key_slot(b"a"), command
    for command in (("TIME",), ("SCRIPT LOAD", "return 1"), ("ACL", "GETUSER", "a"), ("EVAL", "return 1", 0, "a")):
        assert slot_of(command) is None, command
    for key in ("cortex:om:{harold}:tokens", "cortex:om:due:observe:64:7", "cortex:om:events"):
        assert slot_of(("GET", absent(key))) == slot_of(("GET", key))
        assert absent(key).startswith(key)


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
