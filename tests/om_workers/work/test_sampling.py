"""A sample says what stats say of those that are measured, and is taken once in a step."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.store.fleet import samples
from om_api.store.fleet.samples import HOUR, TEN_MINUTES
from om_workers.work import sampling
from om_workers.work.sampling import Sampler


@pytest.fixture
def world(client, prefix):
    made = World(client, prefix)
    for n in range(30):
        made.say(f"message {n}", resource="harold")
        made.tick()
    made.say("hello", resource="ada")
    made.context(resource="harold")
    made.om.tell()
    made.settle()
    made.sweep()
    return made


def taken(world, resource=None, step=TEN_MINUTES):
    (found,) = world.services.run(samples.between(world.services.keys, step, resource, 0))
    return found.sample


def test_a_sample_holds_the_tiers_that_stats_tell_and_their_sums(world):
    assert Sampler(world.services).sample() is True
    harold, stats, every = taken(world, "harold"), world.om.stats("harold"), taken(world)

    assert (harold.messages, harold.chunks, harold.observations, harold.observed) == (
        *(stats.message_tokens, stats.chunk_tokens),
        *(stats.observation_tokens, stats.observed_tokens),
    )
    assert harold.observations > 0
    assert harold.contexts == every.contexts == 1
    assert (every.agents, every.measured, every.messages) == (2, 2, stats.message_tokens + taken(world, "ada").messages)
    assert taken(world, step=HOUR) == every


def test_it_is_taken_once_however_many_beats_there_are(world):
    assert [Sampler(world.services).sample() for _ in range(3)] == [True, False, False]
    assert taken(world).measured == 2


def test_of_more_agents_than_are_measured_it_says_of_how_many_the_tiers_are(client, prefix):
    world = World(client, prefix, metrics__resources="1")
    for name in ("harold", "ada", "berta"):
        world.say("hello", resource=name)
    world.settle()
    world.sweep()
    Sampler(world.services).sample()

    assert (taken(world).agents, taken(world).measured) == (3, 1)


def test_figures_that_are_none_fail_no_tick(world):
    world.client.hset(world.services.keys.counted, "micros|observer", "much")
    with capture_logs() as lines:
        assert Sampler(world.services).sample() is False

    assert [line["event"] for line in lines] == ["sample_failed"]
    assert sampling._sample({}, None).messages == 0
