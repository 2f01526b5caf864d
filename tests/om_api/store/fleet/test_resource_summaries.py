"""Who is worth a look, and the tiers that stats tell: within bounds, and whoever holds what is not ours hides nobody."""

import pytest
from scene import push, ready, trips
from world import World

from om_api.store.fleet import resource_summaries, spending
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import UNKNOWN

NOW, HOUR_MS = 1_790_000_000_000, 3_600_000


def test_a_resource_lags_since_its_longest_due_scope_came_due(store):
    """An urgent scope is written an hour ahead of the time it came due."""
    observe = {"harold": NOW - 7_000, "ada|t1": NOW - HOUR_MS - 9_000, "ada|t2": NOW - 1_000, "later": NOW + 1}
    store.client.zadd(store.keys.due_observe, observe)
    store.client.zadd(store.keys.due_reflect, {"harold": NOW - 8_000})

    assert store.run(resource_summaries.lags(store.keys, NOW, 100)) == {"ada": 9_000, "harold": 8_000}


def test_only_the_longest_due_of_an_index_are_asked_for_and_what_no_scope_is_called_is_left_out(store):
    store.client.zadd(store.keys.due_observe, {f"agent-{n}": NOW - 1_000 * n for n in range(1, 9)})
    store.client.zadd(store.keys.due_observe, {b"\xff": NOW - 20_000, "a/b": NOW - 30_000})

    assert store.run(resource_summaries.lags(store.keys, NOW, 4)) == {"agent-8": 8_000, "agent-7": 7_000}


def test_the_newest_are_those_that_workers_looked_at_last(store):
    store.client.zadd(store.keys.resources, {"old": 1, "newer": 2, "newest": 3})

    assert store.run(resource_summaries.newest(store.keys, 2)) == (3, ["newest", "newer"])


def test_a_summary_tells_activity_lag_tokens_and_costs(store):
    ready(store, "c1", 1, 2)
    push(store, 3)
    of, spent = store.keys.of("harold"), store.keys.spent_by(spending.day_of(NOW), "harold")
    store.client.zadd(of.threads, {"t1": NOW - 5, "t2": NOW - 9})
    store.client.hset(spent, "all|micros", 70)
    store.client.expire(spent, 60)
    (harold, nobody) = store.run(resource_summaries.summaries(store.keys, ["harold", "nobody"], {"harold": 6}, NOW))

    assert harold == ResourceSummary("harold", NOW - 5, 6, 30, 70)
    assert nobody == ResourceSummary("nobody", 0, 0, 0, 0)


def test_nobody_was_heard_of_in_the_future_and_a_spoilt_one_is_left_out(store):
    store.client.zadd(store.keys.of("harold").threads, {"t1": NOW + 10_000})
    store.client.set(store.keys.of("ada").threads, "no sorted set", ex=60)
    found = store.run(resource_summaries.summaries(store.keys, ["ada", "harold"], {}, NOW))

    assert found == [ResourceSummary("harold", NOW, 0, 0, 0)]


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
    tiers = world.services.run(resource_summaries.tiers(Keys(world.prefix), ["harold", "nobody"]))
    told = [stats.message_tokens, stats.chunk_tokens, stats.observation_tokens, stats.reflection_tokens]

    assert sums(tiers["harold"]) == [*told, stats.observed_tokens]
    assert all(told[part] for part in (0, 2, 3))
    assert sum(level.unsealed for level in tiers["harold"].scopes) == stats.message_tokens
    assert sums(tiers["nobody"]) == [0] * 5


def test_of_many_threads_the_ones_heard_of_last_are_read_and_the_others_counted(world, monkeypatch):
    monkeypatch.setattr(resource_summaries, "THREADS", 1)
    tiers = world.services.run(resource_summaries.tiers(Keys(world.prefix), ["harold"]))["harold"]
    threaded = world.om.stats("harold").scope == "thread"

    assert (len(tiers.scopes), tiers.left_out) == (1, int(threaded))
    assert tiers.unsealed == world.om.stats("harold").message_tokens


def test_round_trips_do_not_grow_with_resources(world):
    few = [f"agent-{n}" for n in range(2)]
    many = [f"agent-{n}" for n in range(120)]
    keys = Keys(world.prefix)

    counts = [world.services.run(trips(resource_summaries.tiers(keys, names)))[1] for names in (few, many)]
    assert counts[0] == counts[1] <= 3


def test_quarantines_elsewhere_are_counted_once_and_within_bounds(client, prefix, monkeypatch):
    keys = Keys(prefix)
    world = World(client, prefix)
    for at, (name, entries) in enumerate({"old": 1, "harold": 2, "albert": 4, UNKNOWN: 8}.items()):
        client.rpush(keys.of(name).rejected, *[f"entry {n}" for n in range(entries)])
        if name != UNKNOWN:
            client.zadd(keys.resources, {name: at})

    found = world.services.run(resource_summaries.elsewhere(keys, ["harold"]))
    monkeypatch.setattr(resource_summaries, "ELSEWHERE", 1)
    bounded = world.services.run(resource_summaries.elsewhere(keys, ["harold"]))
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
        ("record", b"\xff", "x"),
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

    found = world.services.run(resource_summaries.tiers(Keys(prefix), names))
    assert {name: tiers.unsealed for name, tiers in found.items()} == {name: 100 for name in names if name != "agent-3"}


def test_a_spoilt_quarantine_elsewhere_hides_no_other_one(client, prefix):
    keys = Keys(prefix)
    client.zadd(keys.resources, {"harold": 1, "ada": 2, "albert": 3})
    client.rpush(keys.of("harold").rejected, "entry")
    client.set(keys.of("ada").rejected, "a string", ex=60)
    world = World(client, prefix)

    assert world.services.run(resource_summaries.elsewhere(keys, [])) == (3, 1, 0)
