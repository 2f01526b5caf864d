"""The sweep ends at the first thing it cannot read, every minute again: nothing behind it is adopted, marked or cleared."""

import pytest
from world import World


def _a_name_that_is_not_utf8(client, prefix):
    client.zadd(f"{prefix}:{{bad}}:messages:caf".encode() + b"\xe9", {b"{}": 1})


def _a_key_of_the_wrong_type(client, prefix):
    client.zadd(f"{prefix}:resources", {"bad": 1})
    client.set(f"{prefix}:{{bad}}:record", "oops")


def _a_broken_counter(client, prefix):
    client.zadd(f"{prefix}:resources", {"bad": 1})
    client.hset(f"{prefix}:{{bad}}:tokens", "#t-1", "abc")


def _a_hint_that_is_not_utf8(client, prefix):
    client.zadd(f"{prefix}:adopt", {b"\xff": -1})


def _a_hint_at_a_key_of_the_wrong_type(client, prefix):
    client.set(f"{prefix}:{{bad}}:messages:t-1", "oops")
    client.zadd(f"{prefix}:adopt", {f"{prefix}:{{bad}}:messages:t-1": -1})


@pytest.mark.parametrize(
    "spoil",
    [
        _a_name_that_is_not_utf8,
        _a_key_of_the_wrong_type,
        _a_broken_counter,
        _a_hint_that_is_not_utf8,
        _a_hint_at_a_key_of_the_wrong_type,
    ],
)
def test_what_one_writer_breaks_hurts_no_other(client, prefix, spoil):
    house = World(client, prefix)
    house.say(*"abcdefghijk", resource="good")
    house.settle()
    house.say(*"lmnopqrstuv", resource="good")
    client.delete(house.services.keys.due_observe)  # a gap that the sweep makes good
    client.zadd(house.services.keys.resources, {"good": 2})
    spoil(client, prefix)
    try:
        house.sweep()
        assert client.zscore(house.services.keys.due_observe, "good") is not None
    finally:
        client.delete(f"{prefix}:{{bad}}:messages:caf".encode() + b"\xe9")
