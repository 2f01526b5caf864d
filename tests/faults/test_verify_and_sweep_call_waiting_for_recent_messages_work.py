"""A full window whose chunks wait for min_recent_messages: nothing can be done, yet wake says due.

`om verify` reports a breach (exit 1), and every sweep marks the scope again.
"""

from world import World


def test_a_scope_that_can_do_nothing_is_at_rest(client, prefix):
    house = World(client, prefix, min_recent_messages="20")
    house.say(*(f"m{n}" for n in range(10)))
    house.settle()
    house.say("small", tokens=50)
    house.settle()
    house.sweep()
    house.settle()
    assert house.om.verify() == []
    client.zadd(house.services.keys.resources, {"harold": 1})
    assert house.sweep().marked == 0
