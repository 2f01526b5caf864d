"""Over time: levels as they were sampled, and of what is counted what came between two points."""

import pytest
from world import World

from om_api.store.fleet import samples
from om_api.store.fleet.samples import TEN_MINUTES, TierSample


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, models__priced__prices="{input: 1, cached: 0.1, output: 4}", actor_model="priced")


def sampled(world, *taken, resource=None, step=TEN_MINUTES, ago=0):
    now = world.om.ping() - ago
    for n, sample in enumerate(taken):
        at = now - (len(taken) - 1 - n) * step * 1_000
        world.services.run(samples.add(world.services.keys, [step], at, {resource: sample}))


def test_points_tell_levels_and_what_came_since_the_point_before(world):
    sampled(
        world,
        TierSample(
            5, 2, messages=10, observations=100, reflections=100, observed=1000, micros=5_000_000, contexts=7,
            tokens=70, raw=700,
        ),
        TierSample(6, 2, messages=20, micros=6_000_000, contexts=9, tokens=90, raw=1_000_900, cached=10),
    )  # fmt: skip
    first, second = world.om.series().points

    assert (first.agents, first.measured, first.message_tokens, first.compression) == (5, 2, 10, 5.0)
    assert (first.cost, first.contexts) == (0, 0)
    assert (second.cost, second.contexts, second.served_tokens, second.history_tokens) == (1.0, 2, 20, 1_000_200)
    assert second.compression is None
    assert second.saved_dollars == pytest.approx(1.0002 - (10 + 1) / 1e6 - 1.0)
