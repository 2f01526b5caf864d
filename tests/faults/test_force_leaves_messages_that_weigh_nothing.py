"""Of messages with tokens 0 a forced seal takes one (or none behind others), and the request is answered all the same."""

from world import World


def test_a_forced_request_is_answered_when_all_of_them_are_observed(client, prefix):
    house = World(client, prefix)
    house.say("a", "b")
    house.say("c", "d", "e", tokens=0)
    house.om.force_observe("t-1", "harold")
    house.settle()
    assert not any(name.startswith(b"force") for name in client.hkeys(f"{prefix}:{{harold}}:record"))
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-1") == 0
