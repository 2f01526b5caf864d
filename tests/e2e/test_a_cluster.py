"""Real workers and a beat on a Cluster, while slots move."""

from collections import Counter

import pytest
from redis.crc import key_slot

AGENTS = [f"agent-{n}" for n in range(4)]
ENOUGH = {"message_threshold": "1000", "observation_threshold": "4000", "min_recent_messages": "0"}


@pytest.fixture
def house(run, cluster, cluster_client):
    """A house whose memories live on the cluster, and whose tasks wait on the tests' server."""
    return run(redis_url=cluster.url, **ENOUGH)


def covered(memory, agent):
    """The id of every message, once for each place that has it."""
    raw = [message.id for message in memory.messages(agent, "t-1")]
    return Counter(raw + [one for note in memory.observations(agent) for one in note.message_ids])


def test_workers_observe_every_message_once_while_slots_move_under_them(house, cluster):
    keys = [f"{house.prefix}:{{{agent}}}:x".encode() for agent in AGENTS]
    for n in range(20):
        for agent in AGENTS:
            house.say(1, agent, first=n)
        slot = key_slot(keys[n % len(keys)])
        cluster.move(slot, next(node for node in cluster.primaries if node is not cluster.owner(slot)))
    for agent in AGENTS:
        assert house.om.force_observe(resource_id=agent, wait=60) == "activated"
        assert covered(house.om, agent) == dict.fromkeys((f"{agent}-{n}" for n in range(20)), 1)
    assert house.om.verify() == []
