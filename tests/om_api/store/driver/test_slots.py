"""Which slot a command belongs to, and who serves it."""

import pytest
from redis.crc import key_slot

from om_api.store.driver.slots import SlotMap, addresses_of, slot_of
from om_api.store.driver.steps import Node


@pytest.mark.parametrize(
    "command",
    [
        ("GET", "om:{a}:x"),
        ("ZADD", "om:{a}:x", 1, "om:{b}:x"),
        ("EVALSHA", "0" * 40, 2, "om:{a}:x", "om:{a}:y", "om:{b}:x"),
        ("XREAD", "COUNT", 1, "BLOCK", 10, "STREAMS", "om:{a}:x", "$"),
        ("EXISTS", b"om:{a}:x"),
    ],
)
def test_a_command_is_of_its_first_keys_slot(command):
    assert slot_of(command) == key_slot(b"a")


@pytest.mark.parametrize(
    "command", [("TIME",), ("SCRIPT LOAD", "return 1"), ("ACL", "GETUSER", "a"), ("EVAL", "return 1", 0, "a")]
)
def test_a_command_without_a_key_is_of_no_slot(command):
    assert slot_of(command) is None


def test_a_map_says_who_serves_a_slot_and_who_only_follows():
    said = SlotMap(
        [[0, 99, [b"10.0.0.1", 7000, b"id"], [b"10.0.0.2", 7001, b"id"]], [200, 200, [b"", 7002, b"id"]]], "me:1"
    )

    assert [said.owner(slot) for slot in (0, 99, 100, 200)] == ["10.0.0.1:7000", "10.0.0.1:7000", None, "me:7002"]
    assert said.nodes == (Node("10.0.0.1:7000"), Node("10.0.0.2:7001", primary=False), Node("me:7002"))


@pytest.mark.parametrize(
    "form", [dict, lambda told: [word for pair in told.items() for word in pair]], ids=["map", "list"]
)
@pytest.mark.parametrize("secure", [False, True])
def test_every_node_is_told_of_those_too_that_are_down(form, secure):
    """A node that was dead when a user was ended would let it in again: it must be asked, and be an error."""

    def node(name, port, role):
        return form({b"endpoint": name, b"port": port, b"tls-port": port + 1, b"role": role})

    shard = form(
        {b"slots": [0, 99], b"nodes": [node(b"10.0.0.1", 7000, b"master"), node(b"10.0.0.2", 7000, b"replica")]}
    )
    former = form({b"slots": [], b"nodes": [node(b"", 7000, b"master")]})
    port = 7000 + secure

    assert addresses_of([shard, former], "me:1", secure=secure) == [
        f"{host}:{port}" for host in ("10.0.0.1", "10.0.0.2", "me")
    ]


def test_a_slot_that_has_moved_is_served_elsewhere_and_no_other_is():
    said = SlotMap([[0, 1, [b"one", 1, b"id"]]])
    said.moved(1, "two:2")

    assert [said.owner(slot) for slot in (0, 1)] == ["one:1", "two:2"]
