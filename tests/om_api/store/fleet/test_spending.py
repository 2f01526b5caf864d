"""Counting what models use: at the server, by its day, once, and never past a budget."""

import pytest
from scene import call
from stores import empty, fresh

from om_api.domain.errors import StoreError
from om_api.store.audit.verify import verify
from om_api.store.fleet import spending
from om_api.store.fleet.spending import Most, Need
from om_api.store.memory import keyspace_scan

FREE, SOME, NOTHING = Most(), Need(100, 7), Need()


def reserve(store, entry, resource="harold", need=SOME, own=FREE, total=FREE):
    return store.run(spending.reserve(store.keys, store.clock, resource, entry, need, own, total))


def settle(store, entry, used=NOTHING, resource="harold", **bill):
    store.run(spending.settle(store.keys, today(store), resource, entry, used, bill))


def today(store):
    return spending.day_of(int(store.client.time()[0]) * 1000)


def counted(store, resource="harold"):
    (found,) = store.run(spending.read(store.keys, [today(store)], resource))
    return found


def test_a_reservation_counts_once_and_is_settled_once_with_the_truth(store):
    reserve(store, "e1")
    assert reserve(store, "e1", own=Most(calls=1), total=Most(calls=1)).used_up == ""  # repeated
    reserve(store, "e2", resource="ada")
    assert counted(store) == {"all|calls": 1, "all|tokens": 100, "all|micros": 7, "open|e1": 1}
    assert counted(store, None)["all|tokens"] == 200
    found = store.run(spending.counted(store.keys, today(store), ["harold", "eve"]))
    assert found == [Most(1, 100, 7), Most(0, 0, 0)]
    for entry in ("e1", "e1", "unknown"):
        settle(store, entry, Need(160, 3), calls=1, tokens=160, micros=3)
    bill = {"calls": 1, "tokens": 160, "micros": 3}
    assert counted(store) == {"all|calls": 1, "all|tokens": 160, "all|micros": 3, **bill}
    assert counted(store, None) == {"all|calls": 2, "all|tokens": 260, "all|micros": 10, "open|e2": 1, **bill}


def test_a_budget_admits_the_call_that_crosses_it_and_says_what_is_used_up(store):
    budgets = [("calls", Most(calls=2)), ("tokens", Most(tokens=101)), ("micros", Most(micros=8))]
    for what, most in fresh(store, budgets):
        found = [reserve(store, f"e{n}", own=most) for n in range(3)]
        assert [each.used_up for each in found] == ["", "", what]
        assert not found[2].of_all
        assert counted(store)["all|calls"] == counted(store, None)["all|calls"] == 2, what
    empty(store)
    assert reserve(store, "e1", own=Most(calls=0)).used_up == "calls"
    empty(store)  # what the budget of all refuses is given back to the resource
    reserve(store, "e1", resource="ada")
    refused = reserve(store, "e2", total=Most(calls=1))
    assert (refused.used_up, refused.of_all) == ("calls", True)
    assert counted(store) == {"all|calls": 0, "all|tokens": 0, "all|micros": 0}


def test_a_day_is_the_servers_whatever_this_clock_says(store):
    store.clock.offset_ms = 3 * spending.DAY_MS

    assert reserve(store, "e1").day == today(store)
    assert abs(store.clock.offset_ms) < 10_000


def test_a_day_that_ends_between_the_two_counts_leaves_nothing_on_the_day_before(store):
    steps = spending.reserve(store.keys, store.clock, "harold", "e1", Need(1, 1), FREE, FREE)
    step = next(steps)
    yesterday = step.keys[0]
    store.run(_once(step))
    total = steps.send([b"reserved", int(store.client.time()[0]) * 1000])
    give_back = steps.send([b"clock", int(store.client.time()[0]) * 1000])
    store.run(_once(give_back))

    assert (total.name, give_back.name, give_back.keys) == ("reserve", "settle", [yesterday])
    assert store.client.hget(yesterday, "all|calls") == b"0"


def _once(step):
    return (yield step)


def test_a_clock_that_never_agrees_is_an_error_and_no_call(store):
    def stopped(day):
        return [b"clock", day * spending.DAY_MS]

    steps = spending.reserve(store.keys, store.clock, "harold", "e1", Need(), FREE, FREE)
    next(steps)
    with pytest.raises(StoreError, match="clock jumps"):
        for day in range(10):
            steps.send(stopped(day))


def test_bills_expire_and_are_no_breach_whatever_the_resource_is_called(store):
    for resource in ("harold", "messages:t-1", "2026-11-21"):
        reserve(store, f"of-{resource}", resource=resource)
    keys = [store.keys.spent_by(today(store), "harold"), store.keys.spent(today(store))]

    assert all(spending.KEPT_S - 5 <= store.client.ttl(key) <= spending.KEPT_S for key in keys)
    assert not any("{" in key for key in keys)
    assert store.run(verify(store.keys)) == []
    assert store.run(keyspace_scan.stray_keys(store.keys, 10)) == []
    store.client.persist(keys[1])
    (breach,) = store.run(verify(store.keys))
    store.client.expire(keys[1], 60)
    assert "no TTL" in str(breach)


def test_a_model_may_be_called_anything_without_being_taken_for_another_field():
    for model in ("all|calls", "100%|", "%7C", "served", "weiß 🔴", "", "a/b:c@d+e-f"):
        name = spending.field(model, "observe", "calls")
        assert spending.parse(name) == (model, "observe", "calls")
        assert name.count("|") == 2, model
    for name in ("all|calls", "open|e1", "served|raw"):
        assert spending.parse(name) is None, name
    assert spending.days_before(1_763_600_000_000, 3) == ["2025-11-18", "2025-11-19", "2025-11-20"]


def test_a_key_that_is_not_ours_is_refused_before_anything_is_written(store):
    key = store.keys.spent(today(store))
    store.client.set(key, "theirs", ex=60)
    with pytest.raises(StoreError, match="WRONGTYPE"):
        call(store, "reserve", [key], ["e1", store.clock.ms() // spending.DAY_MS, 60, 1, 1, "", "", ""])
    assert store.client.get(key) == b"theirs"


def test_the_costliest_of_days_are_ranked_by_their_bills_not_by_what_is_reserved(store):
    day = today(store)
    for entry, name, micros in (("e1", "harold", 5), ("e2", "ada", 9), ("e3", "harold", 6), ("e4", "dora", 0)):
        reserve(store, entry, name, Need(100, 1_000))
        bill = {spending.field("m", "observe", "micros"): micros}
        store.run(spending.settle(store.keys, day, name, entry, Need(1, micros), bill))
        store.run(spending.settle(store.keys, day, name, entry, Need(1, micros), bill))  # repeated: it counts once

    assert store.client.zrange(store.keys.spenders(day), 0, -1, withscores=True) == [(b"ada", 9), (b"harold", 11)]
    assert store.run(spending.costliest(store.keys, [day])) == ["harold", "ada"]
    assert counted(store, "harold")["billed|micros"] == 11
