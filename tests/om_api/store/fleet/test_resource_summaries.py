"""Which resources are known, and how they stand: within bounds, and one whose keys are not ours hides no other."""

import pytest
from scene import interrupted, push, ready, trips
from stores import empty, fresh
from world import World

from om_api.store.fleet import resource_index, resource_summaries, resource_tiers, spending
from om_api.store.fleet.spending import Most
from om_api.store.memory import due, requests
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import UNKNOWN

NOW, HOUR_MS = 1_790_000_000_000, 3_600_000


def test_a_resource_lags_and_a_scope_waits_since_it_came_due(store):
    """An urgent scope is written an hour ahead of the time it came due."""
    observe = {"harold": NOW - 7_000, "ada|t1": NOW - HOUR_MS - 9_000, "ada|t2": NOW - 1_000, "later": NOW + 1}
    store.client.zadd(store.keys.due_observe, observe)
    store.client.zadd(store.keys.due_reflect, {"harold": NOW - 8_000})

    assert store.run(resource_summaries.lags(store.keys, NOW, 100)) == {"ada": 9_000, "harold": 8_000}
    store.client.delete(store.keys.due_observe, store.keys.due_reflect)

    def due_since():
        return store.run(resource_summaries.summaries(store.keys, ["harold"], NOW))["harold"].due_since

    for ahead in (0, HOUR_MS):
        store.client.zadd(store.keys.due_reflect, {"harold": NOW - 9_000 - ahead})
        assert due_since() == NOW - 9_000, ahead
    store.client.delete(store.keys.due_reflect)
    for at in (NOW + 5_000, float("-inf"), float("inf")):  # later, or at no time
        store.client.zadd(store.keys.due_observe, {"harold": at})
        assert due_since() == 0, at


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


def is_known(store, *thread):
    return store.run(resource_index.is_known(store.keys, "harold", *thread))


def listed(store):
    return store.client.zrange(store.keys.resources, 0, -1)


KEPT = {
    "a message": lambda store: push(store, 1),
    "a quarantine": lambda store: store.client.rpush(store.keys.of("harold").rejected, "{}"),
    "a pause": lambda store: store.run(requests.pause(store.keys, "harold", on=True)),
    "a hint": lambda store: store.client.zadd(store.keys.adopt, {store.keys.of("harold").messages("t1"): 0}),
}


def test_a_resource_of_which_anything_is_kept_is_known(store):
    for kept in fresh(store, KEPT):
        assert not is_known(store)
        KEPT[kept](store)
        assert is_known(store), kept
    empty(store)  # what the store was not told of is found where its thread is named
    store.client.zadd(store.keys.of("harold").messages("t1"), {b"anything": 1})
    assert (is_known(store), is_known(store, "t1"), is_known(store, "t2")) == (False, True, False)


def test_who_holds_nothing_is_let_go_and_who_holds_anything_stays(store):
    store.client.zadd(store.keys.resources, {"harold": 1, "albert": 1})
    push(store, 1)

    assert not store.run(resource_index.let_go(store.keys, "harold"))
    assert store.run(resource_index.let_go(store.keys, "albert"))
    assert listed(store) == [b"harold"]


def test_what_comes_while_a_name_is_let_go_lists_it_again(store):
    """Plays the race: adoption lists the name, and rejects what came, after the first look."""

    def adoption():
        store.run(due.looked(store.keys, "harold", 1))
        store.client.rpush(store.keys.of("harold").rejected, "{}")

    steps = resource_index.let_go(store.keys, "harold")
    assert store.run(interrupted(steps, "ZREM", adoption)) is False
    assert listed(store) == [b"harold"]


@pytest.fixture(params=["resource", "thread"])
def world(request, client, prefix):
    """A world with an observed memory of two threads."""
    made = World(client, prefix, scope=request.param, observation_threshold="150", reflection__drain="false")
    for n in range(0, 50, 10):
        for k in range(n, n + 10):
            made.say(f"message {k}", thread=f"t-{k % 2}")
        made.tick()
    made.say("and now?", thread="t-0")
    return made


def sums(tiers):
    records = [level.record for level in tiers.scopes]
    fields = ("chunk_tokens", "observation_tokens", "reflection_tokens", "observed_tokens")
    return [tiers.unsealed, *(sum(getattr(record, field) for record in records) for field in fields)]


def test_tiers_are_those_that_stats_tell(world, monkeypatch):
    keys, run, stats = Keys(world.prefix), world.services.run, world.om.stats("harold")
    tiers = run(resource_tiers.tiers(keys, ["harold", "nobody"]))
    told = [stats.message_tokens, stats.chunk_tokens, stats.observation_tokens, stats.reflection_tokens]

    assert sums(tiers["harold"]) == [*told, stats.observed_tokens]
    assert all(told[part] for part in (0, 2, 3))
    assert sum(level.unsealed for level in tiers["harold"].scopes) == stats.message_tokens
    assert sums(tiers["nobody"]) == [0] * 5
    trips_of = [run(trips(resource_tiers.tiers(keys, [f"agent-{n}" for n in range(k)])))[1] for k in (2, 120)]
    assert trips_of[0] == trips_of[1] <= 3  # they do not grow with resources

    monkeypatch.setattr(resource_tiers, "THREADS", 1)  # the ones heard of last are read, and the others counted
    few = run(resource_tiers.tiers(keys, ["harold"]))["harold"]
    assert (len(few.scopes), few.left_out, few.unsealed) == (1, int(stats.scope == "thread"), stats.message_tokens)


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


@pytest.mark.one_server
def test_a_resource_whose_keys_hold_what_is_not_ours_is_left_out_and_the_others_are_not(client, prefix):
    world, names = World(client, prefix), [f"agent-{n}" for n in range(7)]
    for name in names:
        world.say("hello", resource=name)
    for name, key, field, value in (
        ("agent-0", "rejected", None, "a string"),
        ("agent-1", "tokens", None, "a string"),
        ("agent-2", "tokens", "*", "many"),
        ("agent-3", "tokens", "*", "9" * 400),
        ("agent-4", "record", "observation_tokens", "1e3"),
        ("agent-5", "record", "generation", "9" * 30),
    ):
        spoilt = f"{prefix}:{{{name}}}:{key}"
        if field is None:
            client.delete(spoilt)
            client.set(spoilt, value, ex=60)
        else:
            client.hset(spoilt, field, value)

    found = world.services.run(resource_tiers.tiers(Keys(prefix), names))
    assert {name: tiers.unsealed for name, tiers in found.items()} == {"agent-6": 100}
    client.zadd(Keys(prefix).resources, dict.fromkeys(names, 1))
    client.rpush(Keys(prefix).of("agent-6").rejected, "entry")
    assert world.services.run(resource_tiers.elsewhere(Keys(prefix), [])) == (7, 1, 0)
