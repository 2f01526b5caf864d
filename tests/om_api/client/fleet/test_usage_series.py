"""Over time: levels as they were sampled, and of what is counted what came between two points."""

import pytest
from world import World

from om_api.client.fleet import usage_series
from om_api.domain.errors import InvalidInputError
from om_api.store.fleet import samples
from om_api.store.fleet.samples import HOUR, TEN_MINUTES, TierSample


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
            5,
            2,
            messages=10,
            observations=100,
            reflections=100,
            observed=1000,
            micros=5_000_000,
            contexts=7,
            tokens=70,
            raw=700,
        ),
        TierSample(6, 2, messages=20, micros=6_000_000, contexts=9, tokens=90, raw=1_000_900, cached=10),
    )
    first, second = world.om.series().points

    assert (first.agents, first.measured, first.message_tokens, first.compression) == (5, 2, 10, 5.0)
    assert (first.cost, first.contexts) == (0, 0)
    assert (second.cost, second.contexts, second.served_tokens, second.history_tokens) == (1.0, 2, 20, 1_000_200)
    assert second.compression is None
    assert second.saved_dollars == pytest.approx(1.0002 - (10 + 1) / 1e6 - 1.0)


def test_a_counter_that_began_anew_takes_nothing_off(world):
    sampled(world, TierSample(micros=5_000_000), TierSample(micros=1_000_000))

    assert [point.cost for point in world.om.series().points] == [0, 1.0]


def test_what_stood_before_the_days_that_are_asked_for_is_told_and_counted_from(world):
    sampled(world, TierSample(messages=5, micros=1_000_000), resource="harold", ago=3 * 86_400_000)
    assert [point.message_tokens for point in world.om.series("harold", 1).points] == [5]

    sampled(world, TierSample(messages=9, micros=3_000_000), resource="harold")
    assert [(point.message_tokens, point.cost) for point in world.om.series("harold", 1).points] == [(5, 0), (9, 2.0)]


def test_long_times_come_in_a_bounded_number_of_points_that_add_up(world, monkeypatch):
    monkeypatch.setattr(usage_series, "POINTS", 5)
    sampled(world, *(TierSample(micros=n * 1_000_000) for n in range(23)))
    points = world.om.series(days=1).points

    assert len(points) == 5
    assert points[-1].at == world.services.run(samples.between(world.services.keys, TEN_MINUTES, None, 0))[-1].at
    assert sum(point.cost for point in points) == 22


def test_beyond_a_month_hourly_samples_are_told(world):
    sampled(world, TierSample(messages=1), TierSample(messages=2), step=HOUR)

    assert (world.om.series(days=31).step, world.om.series(days=30).step) == (HOUR, TEN_MINUTES)
    assert [point.message_tokens for point in world.om.series(days=400).points] == [1, 2]
    assert world.om.series("nobody").points == ()


@pytest.mark.parametrize("asked", [{"days": 0}, {"days": 401}, {"resource_id": "a b"}])
def test_what_cannot_be_asked_is_refused(world, asked):
    with pytest.raises(InvalidInputError):
        world.om.series(**asked)
