"""Who is worth a look: found by indexes, within bounds, and whoever holds what is not ours hides nobody."""

from __future__ import annotations

from scene import push, ready

from om_api.store.fleet import resource_summaries, spending
from om_api.store.fleet.resource_summaries import Glance

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


def test_a_glance_tells_activity_lag_tokens_and_costs(store):
    ready(store, "c1", 1, 2)
    push(store, 3)
    of, spent = store.keys.of("harold"), store.keys.spent_by(spending.day_of(NOW), "harold")
    store.client.zadd(of.threads, {"t1": NOW - 5, "t2": NOW - 9})
    store.client.hset(spent, "all|micros", 70)
    store.client.expire(spent, 60)
    (harold, nobody) = store.run(resource_summaries.glances(store.keys, ["harold", "nobody"], {"harold": 6}, NOW))

    assert harold == Glance("harold", NOW - 5, 6, 30, 70)
    assert nobody == Glance("nobody", 0, 0, 0, 0)


def test_nobody_was_heard_of_in_the_future_and_a_spoilt_one_is_left_out(store):
    store.client.zadd(store.keys.of("harold").threads, {"t1": NOW + 10_000})
    store.client.set(store.keys.of("ada").threads, "no sorted set", ex=60)
    found = store.run(resource_summaries.glances(store.keys, ["ada", "harold"], {}, NOW))

    assert found == [Glance("harold", NOW, 0, 0, 0)]
