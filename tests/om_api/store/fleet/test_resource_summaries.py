"""Who is worth a look, and how it stands: within bounds, and whoever holds what is not ours hides nobody."""

import pytest
from scene import push, ready

from om_api.store.fleet import resource_summaries, spending
from om_api.store.fleet.spending import Most

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


def test_those_looked_at_since_are_told_newest_first_and_how_many_there_are(store):
    store.client.zadd(store.keys.resources, {"old": 1, "newer": 2, "newest": 3})

    assert store.run(resource_summaries.changed(store.keys, 2, 10)) == (3, ["newest", "newer"])
    assert store.run(resource_summaries.changed(store.keys, 1, 1)) == (3, ["newest"])


def test_what_was_said_last_is_told_of_the_newest_thread_although_no_worker_has_met_it(store):
    push(store, 1)
    store.client.zadd(store.keys.of("harold").threads, {"t1": 5})
    found = store.run(resource_summaries.summaries(store.keys, ["harold", "nobody"], NOW))

    said = store.run(resource_summaries.last_said(store.keys, list(found.values()), NOW))
    assert said == {
        "harold": min(NOW, store.client.zrange(store.keys.of("harold").messages("t1"), -1, -1, withscores=True)[0][1])
    }
    assert said["harold"] > found["harold"].at


def test_a_summary_tells_activity_lag_tokens_and_costs(store):
    ready(store, "c1", 1, 2)
    push(store, 3)
    of, spent = store.keys.of("harold"), store.keys.spent_by(spending.day_of(NOW), "harold")
    store.client.zadd(of.threads, {"t1": NOW - 5, "t2": NOW - 9})
    store.client.zadd(store.keys.resources, {"harold": 1})
    store.client.zadd(store.keys.due_observe, {"harold": NOW - 6})
    store.client.hset(spent, "all|micros", 70)
    store.client.expire(spent, 60)
    found = store.run(resource_summaries.summaries(store.keys, ["harold", "nobody"], NOW))
    harold, nobody = found["harold"], found["nobody"]

    assert harold[:7] == ("harold", True, NOW - 5, "t1", NOW - 6, Most(0, 0, 70), False)
    assert [(level.unsealed, level.record.chunk_tokens, level.chunks) for level in harold.tiers.scopes] == [(10, 20, 1)]
    assert (harold.holds, nobody.listed, nobody.holds) == (True, False, False)
    assert store.run(resource_summaries.ready_chunks(store.keys, [harold, nobody])) == {"harold": 1}


@pytest.mark.parametrize(("ahead", "since"), [(0, NOW - 9_000), (HOUR_MS, NOW - 9_000)])
def test_an_urgent_scope_waits_since_it_came_due(store, ahead, since):
    store.client.zadd(store.keys.due_reflect, {"harold": NOW - 9_000 - ahead})

    assert store.run(resource_summaries.summaries(store.keys, ["harold"], NOW))["harold"].due_since == since


@pytest.mark.parametrize("at", [NOW + 5_000, float("-inf"), float("inf")])
def test_what_is_due_later_or_at_no_time_does_not_wait(store, at):
    store.client.zadd(store.keys.due_observe, {"harold": at})

    assert store.run(resource_summaries.summaries(store.keys, ["harold"], NOW))["harold"].due_since == 0


def test_nobody_was_heard_of_in_the_future_and_a_spoilt_one_is_left_out(store):
    store.client.zadd(store.keys.of("harold").threads, {"t1": NOW + 10_000})
    store.client.set(store.keys.of("ada").threads, "no sorted set", ex=60)
    found = store.run(resource_summaries.summaries(store.keys, ["ada", "harold"], NOW))

    assert {name: one.at for name, one in found.items()} == {"harold": NOW}
