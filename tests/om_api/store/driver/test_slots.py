"""Which slot a command belongs to, and who serves it."""

from redis.crc import key_slot

from om_api.store.driver.scripts import absent
from om_api.store.driver.slots import SlotMap, addresses_of, slot_of
from om_api.store.driver.steps import Node


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
