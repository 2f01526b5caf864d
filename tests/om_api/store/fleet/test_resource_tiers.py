"""The tiers that stats tell, of many memories: within bounds, and whoever holds what is not ours hides nobody."""

import pytest
from scene import trips
from world import World

from om_api.store.fleet import resource_tiers
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import UNKNOWN


def test_the_newest_are_those_that_workers_looked_at_last(store):
    store.client.zadd(store.keys.resources, {"old": 1, "newer": 2, "newest": 3})

    assert store.run(resource_tiers.newest(store.keys, 2)) == (3, ["newest", "newer"])


@pytest.fixture(params=["resource", "thread"])
def world(request, client, prefix):
    """A world with an observed memory of two threads."""
    made = World(client, prefix, scope=request.param, observation_threshold="150", reflection__drain="false")
    for n in range(50):
        made.say(f"message {n}", thread=f"t-{n % 2}")
        made.tick()
    made.say("and now?", thread="t-0")
    return made


def sums(tiers):
    records = [level.record for level in tiers.scopes]
    fields = ("chunk_tokens", "observation_tokens", "reflection_tokens", "observed_tokens")
    return [tiers.unsealed, *(sum(getattr(record, field) for record in records) for field in fields)]


def test_tiers_are_those_that_stats_tell(world):
    stats = world.om.stats("harold")
    tiers = world.services.run(resource_tiers.tiers(Keys(world.prefix), ["harold", "nobody"]))
    told = [stats.message_tokens, stats.chunk_tokens, stats.observation_tokens, stats.reflection_tokens]

    assert sums(tiers["harold"]) == [*told, stats.observed_tokens]
    assert all(told[part] for part in (0, 2, 3))
    assert sum(level.unsealed for level in tiers["harold"].scopes) == stats.message_tokens
    assert sums(tiers["nobody"]) == [0] * 5


def test_of_many_threads_the_ones_heard_of_last_are_read_and_the_others_counted(world, monkeypatch):
    monkeypatch.setattr(resource_tiers, "THREADS", 1)
    tiers = world.services.run(resource_tiers.tiers(Keys(world.prefix), ["harold"]))["harold"]
    threaded = world.om.stats("harold").scope == "thread"

    assert (len(tiers.scopes), tiers.left_out) == (1, int(threaded))
    assert tiers.unsealed == world.om.stats("harold").message_tokens


def test_round_trips_do_not_grow_with_resources(world):
    few = [f"agent-{n}" for n in range(2)]
    many = [f"agent-{n}" for n in range(120)]
    keys = Keys(world.prefix)

    counts = [world.services.run(trips(resource_tiers.tiers(keys, names)))[1] for names in (few, many)]
    assert counts[0] == counts[1] <= 3


def test_quarantines_elsewhere_are_counted_once_and_within_bounds(client, prefix, monkeypatch):
    keys = Keys(prefix)
    world = World(client, prefix)
    for at, (name, entries) in enumerate({"old": 1, "harold": 2, "albert": 4, UNKNOWN: 8}.items()):
        client.rpush(keys.of(name).rejected, *[f"entry {n}" for n in range(entries)])
        if name != UNKNOWN:
            client.zadd(keys.resources, {name: at})

    found = world.services.run(resource_tiers.elsewhere(keys, ["harold"]))
    monkeypatch.setattr(resource_tiers, "ELSEWHERE", 1)
    bounded = world.services.run(resource_tiers.elsewhere(keys, ["harold"]))
    assert found == (3, 5, 8)
    assert bounded == (3, 4, 8)


@pytest.mark.parametrize(
    ("key", "field", "value"),
    [
        ("rejected", None, "a string"),
        ("tokens", None, "a string"),
        ("tokens", "*", "many"),
        ("tokens", "*", "9" * 400),
        ("record", "observation_tokens", "1e3"),
        ("record", "generation", "9" * 30),
    ],
)
def test_a_resource_whose_keys_hold_what_is_not_ours_is_left_out_and_the_others_are_not(
    client, prefix, key, field, value
):
    world = World(client, prefix)
    names = [f"agent-{n}" for n in range(5)]
    for name in names:
        world.say("hello", resource=name)
    spoilt = f"{prefix}:{{agent-3}}:{key}"
    if field is None:
        client.delete(spoilt)
        client.set(spoilt, value, ex=60)
    else:
        client.hset(spoilt, field, value)

    found = world.services.run(resource_tiers.tiers(Keys(prefix), names))
    assert {name: tiers.unsealed for name, tiers in found.items()} == {name: 100 for name in names if name != "agent-3"}


def test_a_spoilt_quarantine_elsewhere_hides_no_other_one(client, prefix):
    keys = Keys(prefix)
    client.zadd(keys.resources, {"harold": 1, "ada": 2, "albert": 3})
    client.rpush(keys.of("harold").rejected, "entry")
    client.set(keys.of("ada").rejected, "a string", ex=60)
    world = World(client, prefix)

    assert world.services.run(resource_tiers.elsewhere(keys, [])) == (3, 1, 0)
