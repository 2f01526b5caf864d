"""FUZZ_SEEDS=730, seed 729: in thread scope, cleared before anything was sealed, record:<t> stays with its request."""

from world import World


def test_clear_takes_the_record_that_only_a_forced_request_made(client, prefix):
    house = World(client, prefix, scope="thread")
    house.say("a")
    house.om.force_observe("t-1", "harold")
    house.om.clear("harold")
    assert list(client.scan_iter(f"{prefix}:{{harold}}:record*")) == []
