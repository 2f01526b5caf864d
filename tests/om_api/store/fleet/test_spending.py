"""Counting what models use: at the server, by its day, once, and never past a budget."""

import pytest
from scene import call

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


def test_a_reservation_counts_for_its_resource_and_for_all(store):
    reserve(store, "e1")
    reserve(store, "e2", resource="ada")

    assert counted(store) == {"all|calls": 1, "all|tokens": 100, "all|micros": 7, "open|e1": 1}
    assert counted(store, None)["all|tokens"] == 200


def test_settling_puts_the_truth_in_the_place_of_the_reservation(store):
    reserve(store, "e1")
    settle(store, "e1", Need(160, 3), calls=1)

    assert counted(store) == counted(store, None) == {"all|calls": 1, "all|tokens": 160, "all|micros": 3, "calls": 1}


def test_every_field_of_a_bill_is_added(store):
    reserve(store, "e1")
    settle(store, "e1", Need(160, 3), calls=1, tokens=160, micros=3)

    assert counted(store).items() >= {"calls": 1, "tokens": 160, "micros": 3}.items()


def test_a_repeated_reservation_counts_once(store):
    reserve(store, "e1")
    again = reserve(store, "e1", own=Most(calls=1), total=Most(calls=1))

    assert again.used_up == ""
    assert counted(store)["all|calls"] == counted(store, None)["all|calls"] == 1


def test_a_repeated_settlement_and_one_of_an_entry_nobody_knows_change_nothing(store):
    reserve(store, "e1")
    for _ in range(2):
        settle(store, "e1", Need(160, 3), calls=1)
    settle(store, "e2", Need(160, 3), calls=1)

    assert counted(store) == {"all|calls": 1, "all|tokens": 160, "all|micros": 3, "calls": 1}


@pytest.mark.parametrize("what", ["calls", "tokens", "micros"])
def test_a_budget_that_is_used_up_counts_nothing_and_says_what_of_it_is(store, what):
    reserve(store, "e1", need=Need(1, 1))
    refused = reserve(store, "e2", need=Need(1, 1), own=Most(**{what: 1}))

    assert (refused.used_up, refused.of_all) == (what, False)
    assert counted(store)["all|calls"] == counted(store, None)["all|calls"] == 1


@pytest.mark.parametrize("most", [Most(calls=2), Most(tokens=101), Most(micros=8)])
def test_a_budget_that_is_not_used_up_admits_the_call_that_crosses_it_and_no_further_one(store, most):
    assert [reserve(store, f"e{n}", own=most).used_up == "" for n in range(3)] == [True, True, False]


def test_what_the_budget_of_all_refuses_is_given_back_to_the_resource(store):
    reserve(store, "e1", resource="ada")
    refused = reserve(store, "e2", total=Most(calls=1))

    assert (refused.used_up, refused.of_all) == ("calls", True)
    assert counted(store) == {"all|calls": 0, "all|tokens": 0, "all|micros": 0}


def test_a_budget_of_nothing_admits_nothing(store):
    assert reserve(store, "e1", own=Most(calls=0)).used_up == "calls"


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


def test_bills_expire_and_have_a_slot_of_their_own(store):
    reserve(store, "e1")
    keys = [store.keys.spent_by(today(store), "harold"), store.keys.spent(today(store))]

    assert all(spending.KEPT_S - 5 <= store.client.ttl(key) <= spending.KEPT_S for key in keys)
    assert not any("{" in key for key in keys)


def test_bills_are_no_breach_and_no_stray_whatever_the_resource_is_called(store):
    for resource in ("harold", "messages:t-1", "2026-11-21"):
        reserve(store, f"of-{resource}", resource=resource)

    assert store.run(verify(store.keys)) == []
    assert store.run(keyspace_scan.stray_keys(store.keys, 10)) == []


def test_a_bill_without_a_lifetime_is_a_breach(store):
    reserve(store, "e1")
    key = store.keys.spent(today(store))
    store.client.persist(key)
    (breach,) = store.run(verify(store.keys))
    store.client.expire(key, 60)

    assert "no TTL" in str(breach)


@pytest.mark.parametrize("model", ["all|calls", "a|b|c", "100%|", "%7C", "served", "weiß 🔴", "", "a/b:c@d+e-f"])
def test_a_model_may_be_called_anything_without_being_taken_for_another_field(model):
    name = spending.field(model, "observe", "calls")

    assert spending.parse(name) == (model, "observe", "calls")
    assert name.count("|") == 2


@pytest.mark.parametrize("name", ["all|calls", "open|e1", "served|raw"])
def test_what_is_no_bill_is_read_as_none(name):
    assert spending.parse(name) is None


def test_what_clients_served_is_added_up_for_the_resource_and_for_all(store):
    for _ in range(2):
        store.run(spending.tell(store.keys, store.clock, {"harold": {"raw": 10, "tokens": 3}}))
    store.run(spending.tell(store.keys, store.clock, {"ada": {"raw": 10}, "eve": {"tokens": 3}}))

    assert counted(store) == {"served|raw": 20, "served|tokens": 6}
    assert counted(store, None) == {"served|raw": 30, "served|tokens": 9}


def test_what_counts_against_budgets_is_read_for_many_at_once(store):
    reserve(store, "e1")

    assert store.run(spending.counted(store.keys, today(store), ["harold", "ada"])) == [Most(1, 100, 7), Most(0, 0, 0)]


def test_days_are_listed_oldest_first():
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


def test_a_sum_that_comes_late_takes_nothing_off_and_only_the_costliest_are_ranked(store, monkeypatch):
    monkeypatch.setattr(spending, "COSTLIEST", 2)
    for name, micros in (("harold", 9), ("harold", 5), ("ada", 1), ("dora", 2)):
        store.run(spending._rank(store.keys, "2026-11-21", name, micros))
    store.run(spending._rank(store.keys, "2026-11-22", "ada", 30))

    assert store.client.zrange(store.keys.spenders("2026-11-21"), 0, -1) == [b"dora", b"harold"]
    assert store.run(spending.costliest(store.keys, ["2026-11-21", "2026-11-22"])) == ["ada", "harold", "dora"]
