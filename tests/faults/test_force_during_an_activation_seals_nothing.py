"""A look that first activates once counted every forced request as handled: answered, with nothing sealed for it."""

from world import World


def test_a_request_made_while_an_activation_is_due_is_answered_when_its_messages_are_observed(client, prefix):
    house = World(client, prefix)
    house.say(*(f"m{n}" for n in range(8)))
    house.settle()
    house.say("m8", "m9", "m10", tokens=90)  # the window is full, four chunks are ready
    house.om.force_observe("t-1", "harold")
    house.settle()
    left = client.zcard(f"{prefix}:{{harold}}:messages:t-1")
    asked = [name for name in client.hkeys(f"{prefix}:{{harold}}:record") if name.startswith(b"force")]
    assert (asked, left) == ([], 0)
