"""A server with everysec loses its last second while a Reflector thinks: what it read there is gone, and its seq is drawn anew.

Time 0: the Reflector reads observations up to seq s and starts thinking. Time 1: the server crashes and comes back without the
activation that drew seq s. Time 2: another chunk is activated and gets that very seq. Time 3: the Reflector commits "replaces
1..s": epoch, generation and seqs all fit, and an observation that it never read is taken for reflected: its text is lost.
"""

import redis
from world import World

from om_workers.llm.scripted import Scripted


def _save(client):
    return {key: (client.pttl(key), client.dump(key)) for key in client.scan_iter("*", 1000)}


def _crash_to(client, saved):
    client.flushdb()
    for key, (ttl, value) in saved.items():
        client.restore(key, max(0, ttl), value)


def test_what_a_reflector_never_read_is_not_taken_for_reflected(private_server_url, prefix):
    with redis.Redis.from_url(private_server_url) as client:
        echo = Scripted.echo()
        world = World(client, prefix, echo)
        world.say(*[f"early {n}" for n in range(8)])
        world.settle()
        world.om.force_observe(None, "harold")
        world.settle()
        world.say(*[f"late {n}" for n in range(2)], thread="t-1")
        world.say(*[f"other {n}" for n in range(2)], thread="t-2")
        saved = _save(client)  # what the file holds when the server crashes
        world.om.force_observe("t-1", "harold")
        world.settle()

        def think(request):
            _crash_to(client, saved)
            world.model = echo
            world.om.force_observe("t-2", "harold")
            world.dispatch.queue.clear()
            world.settle()
            return echo._always(request)

        world.model = Scripted(think)
        world.om.force_reflect("harold")
        world.tick()

        text = world.context("t-2").text
        assert all(f"other {n}" in text for n in range(2))
