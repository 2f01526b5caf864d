"""Reflections that read what is lost later, or get no answer; and scripts that must run whole where nothing has a weight."""

import redis
from world import World

from om_api.domain.errors import ModelError
from om_workers.llm.base import Reply
from om_workers.llm.scripted import Scripted


def _save(client):
    return {key: (client.pttl(key), client.dump(key)) for key in client.scan_iter("*", 1000)}


def _crash_to(client, saved):
    client.flushdb()
    for key, (ttl, value) in saved.items():
        client.restore(key, max(0, ttl), value)


def test_what_a_reflector_never_read_is_not_taken_for_reflected(private_server_url, prefix):
    """With everysec. Time 0: the Reflector reads observations up to seq s. Time 1: the server crashes and comes back without the
    activation that drew s. Time 2: another chunk gets that very seq. Time 3: the Reflector commits."""
    with redis.Redis.from_url(private_server_url) as client:
        echo = Scripted.echo()
        world = World(client, prefix, echo)
        world.say(*[f"early {n}" for n in range(8)])
        world.settle()
        world.observe_now(None)
        world.say(*[f"late {n}" for n in range(2)], thread="t-1")
        world.say(*[f"other {n}" for n in range(2)], thread="t-2")
        saved = _save(client)  # what the file holds when the server crashes
        world.observe_now()

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


class Useless:
    """A reflector that answers with nothing, or refuses what it reads as a provider's content filter does."""

    name = "useless"

    def __init__(self, error=None):
        self.error, self.asked = error, 0

    def complete(self, request):
        if request.purpose == "observe":
            return Scripted.echo().complete(request)
        self.asked += 1
        if self.error:
            raise self.error
        return Reply(text="", model=self.name)


def _reflected_in_vain(client, prefix, model, looks):
    world = World(client, prefix, model=model, observation_threshold="200")
    world.say(*(f"message {n}" for n in range(30)))
    for _ in range(looks):
        soon = 1 + client.time()[0] * 1000 + 60_000  # a minute passes: what stands later stays
        for name, score in client.zrange(world.services.keys.due_reflect, 0, -1, withscores=True):
            if score < soon:
                client.zadd(world.services.keys.due_reflect, {name: 1})
        world.tick_forgiving()
    return world


def test_a_reflector_that_answers_nothing_or_refuses_is_not_asked_at_every_look_nor_before_it_says(client, prefix_for):
    refuses = ModelError("the provider refuses this memory", retryable=False)
    later = ModelError("busy", retryable=True, retry_after=3_600)
    # max_attempts for each memory that it was shown: that of the one that refuses changes three times
    for name, error, looks, most in (("nothing", None, 20, 4 * 8), ("refuses", refuses, 10, 3 * 4),
        ("later", later, 10, 9)):  # fmt: skip
        model = Useless(error)
        world = _reflected_in_vain(client, prefix_for(name), model, looks)
        assert 0 < model.asked <= most, name
    assert client.zscore(world.services.keys.due_reflect, "harold") > client.time()[0] * 1000 + 3_000_000


EMPTY = "<observations>\n</observations>"


def _observed(client, prefix, *replies, tokens=100):
    """A memory after two messages were observed, by a model that gives these replies."""
    world = World(client, prefix, **({"model": Scripted(*replies)} if replies else {}))
    world.say("a", "b", tokens=tokens)
    world.observe_now()
    return world


def _is_whole(world, observations):
    assert world.om.record("harold").observation_count == observations == len(world.om.observations("harold"))
    assert world.om.verify() == []


def test_what_weighs_nothing_or_says_nothing_is_activated_cleared_forgotten_and_reflected_whole(client, prefix_for):
    """Breaks on Redis 7.0, where Lua's -0 becomes the argument "-0": HINCRBY refuses it, after the script's first writes."""
    world = _observed(client, prefix_for("weightless"), tokens=0)
    _is_whole(world, 1)
    world.om.clear("harold", "t-1")
    _is_whole(world, 0)
    world = _observed(client, prefix_for("empty"), *[EMPTY] * 20)
    (found,) = world.om.observations("harold")
    world.om.forget(found.id, "harold")
    _is_whole(world, 0)
    world = _observed(client, prefix_for("reflected"), EMPTY, *["<observations>\n* nothing yet\n</observations>"] * 5)
    world.reflect_now()
    _is_whole(world, 0)
