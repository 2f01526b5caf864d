"""claim, renew, done, mark: who looks next, and that a mark is never lost to somebody who has looked."""

import time

import pytest
from scene import AT, HAROLD, nothing_changes, push, trips

from om_api.domain.values import Scope
from om_api.store.driver.partitions import learn, part_of
from om_api.store.memory import due
from om_api.store.memory.due import Claim, DueScope
from om_api.store.memory.keys import beside, queued


@pytest.fixture
def index(store):
    return store.keys.due_observe


def mark(store, *names, urgent=False):
    store.run(due.mark(store.keys.due_observe, [Scope(name) for name in names], urgent=urgent))


def claim(store, n=10):
    return store.run(due.claim(store.keys.due_observe, n))


def names(claims):
    return [held.scope for held in claims]


def test_due_scopes_are_claimed_lowest_first_and_no_more_than_asked(store, index):
    store.client.zadd(index, {"c": 3, "a": 1, "b": 2})

    assert names(claim(store, 2)) == ["a", "b"]
    assert names(claim(store)) == ["c"]


def test_a_claimed_scope_is_not_claimed_again(store, index):
    mark(store, "harold")

    assert names(claim(store)) == ["harold"]
    with nothing_changes(store):
        assert claim(store) == []


def test_a_claim_that_takes_nobody_keeps_nothing_for_longer(store, index):
    """Breaks when every look at an idle index writes something."""
    store.client.zadd(queued(index), {"lost": 1})
    store.client.pexpire(queued(index), 60_000)

    assert claim(store) == []
    assert store.client.zscore(queued(index), "lost") == 1
    assert store.client.pttl(queued(index)) <= 60_000


def test_a_scope_comes_back_when_its_lease_ran_out(store, index):
    mark(store, "harold")
    store.run(due.claim(index, 1, lease_ms=-1_000))

    assert names(claim(store)) == ["harold"]


def test_what_is_due_later_is_not_claimed(store, index):
    store.client.zadd(index, {"harold": 9e12})
    with nothing_changes(store):
        assert claim(store) == []


def test_the_urgent_come_first(store):
    mark(store, "first")
    mark(store, "urgent", urgent=True)

    assert names(claim(store, 1)) == ["urgent"]


@pytest.mark.parametrize(("waited_s", "ahead_s"), [(None, 0), (-3_600, 0), (0, 0), (7, 7), (30, 30), (3_600, 30)])
def test_what_has_waited_goes_ahead_of_what_came_due_since_by_a_lease_at_most(
    store, index, monkeypatch, waited_s, ahead_s
):
    """Catches a chunk that stands behind every scope that came due since it was sealed, and one that overtakes for ever."""
    now = store.run(due.server_ms())
    monkeypatch.setattr(due, "server_ms", lambda: _stopped_at(now))
    store.run(due.mark(index, ["harold"], since=None if waited_s is None else now - waited_s * 1_000))

    assert store.client.zscore(index, "harold") == now - ahead_s * 1_000


def _stopped_at(now):
    yield from ()
    return now


def test_a_mark_never_postpones(store, index):
    """Breaks when a mark sets the time: what an actor waits for would stand behind whoever became due since."""
    mark(store, "harold", urgent=True)
    before = store.client.zscore(index, "harold")
    mark(store, "harold")

    assert store.client.zscore(index, "harold") == before


def test_a_mark_makes_a_scope_due_at_once_whose_task_was_begun(store):
    mark(store, "harold")
    (held,) = claim(store)
    assert store.run(due.start(store.keys.due_observe, held)) == "started"
    mark(store, "harold")

    assert names(claim(store)) == ["harold"]


def test_marking_nothing_asks_nothing(store):
    with nothing_changes(store):
        store.run(due.mark(store.keys.due_observe, []))


def test_a_lease_is_renewed_by_its_holder_alone(store, index):
    mark(store, "harold")
    (held,) = claim(store)
    renewed = store.run(due.renew(index, held, 90_000))

    assert float(renewed.lease) > float(held.lease)
    with nothing_changes(store):
        assert store.run(due.renew(index, held)) is None


def test_a_lease_is_lost_to_a_mark(store, index):
    mark(store, "harold")
    (held,) = claim(store)
    mark(store, "harold")
    with nothing_changes(store):
        assert store.run(due.renew(index, held)) is None


def test_done_takes_a_scope_off_the_index_once(store, index):
    mark(store, "harold")
    (held,) = claim(store)

    assert store.run(due.done(index, held)) is True
    assert store.client.exists(index) == 0
    with nothing_changes(store):
        assert store.run(due.done(index, held)) is False


def test_done_may_leave_a_scope_for_later(store, index):
    mark(store, "harold")
    (held,) = claim(store)

    assert store.run(due.done(index, held, 9_000_000_000_000)) is True
    assert store.client.zscore(index, "harold") == 9_000_000_000_000


@pytest.mark.parametrize("later", [None, 9_000_000_000_000])
def test_done_does_not_undo_a_mark(store, index, later):
    """Breaks when done trusts its look: time 0 nothing is left to do, time 1 a push marks, time 2 done takes the mark away."""
    mark(store, "harold")
    (held,) = claim(store)
    push(store, 1)
    with nothing_changes(store):
        assert store.run(due.done(index, held, later)) is False


def test_a_stolen_lease_is_not_done_by_the_loser(store, index):
    """Breaks when done trusts whoever says it: time 0 A claims, time 1 its lease is over, time 2 B claims, time 3 A is done."""
    mark(store, "harold")
    (lost,) = store.run(due.claim(index, 1, lease_ms=-5))
    (held,) = claim(store)

    assert lost.lease != held.lease
    assert store.run(due.done(index, lost)) is False
    assert store.run(due.done(index, held)) is True


def test_a_lease_survives_the_way_through_text(store, index):
    mark(store, "harold")
    (held,) = claim(store)

    assert store.client.zscore(index, "harold") == float(held.lease)
    assert float(held.lease) != int(float(held.lease))


def test_only_a_due_scope_is_postponed(store, index):
    store.run(due.postpone(index, HAROLD, 5))
    assert store.client.exists(index) == 0

    mark(store, "harold")
    store.run(due.postpone(index, HAROLD, 9_000_000_000_000))
    assert claim(store) == []


def test_only_a_scope_on_lease_is_looked_at_sooner_and_never_later(store, index):
    """Breaks without XX: what is done would be due again for ever. Breaks without LT: a lock that is renewed delays a scope."""
    store.run(due.sooner(index, HAROLD, 5))
    assert store.client.exists(index) == 0

    store.client.zadd(index, {"harold": 1_000})
    store.run(due.sooner(index, HAROLD, 2_000))
    assert store.client.zscore(index, "harold") == 1_000
    store.run(due.sooner(index, HAROLD, 5))
    assert store.client.zscore(index, "harold") == 5


def test_a_claim_of_a_scope_never_due_is_never_done(store, index):
    with nothing_changes(store):
        assert store.run(due.done(index, Claim("harold", "1.5"))) is False


def _from_now(store, index):
    seconds, micros = store.client.time()
    return store.client.zscore(index, "harold") - (seconds * 1_000 + micros / 1_000)


def test_a_claim_is_on_lease_for_half_a_minute_and_its_place_is_kept_for_twenty_leases(store, index):
    mark(store, "harold")
    claim(store)

    assert 29_000 < _from_now(store, index) <= 30_001
    assert 590_000 < store.client.pttl(queued(index)) <= 600_000

    store.client.pexpire(queued(index), 1_000)
    store.run(due.keep(index, ["harold"]))
    assert 29_000 < _from_now(store, queued(index)) <= 30_001
    assert 590_000 < store.client.pttl(queued(index)) <= 600_000


def test_what_nobody_holds_is_neither_kept_nor_taken(store, index):
    with nothing_changes(store):
        store.run(due.keep(index, ["harold"]))
        assert store.run(due.take(index, HAROLD)) is None


def test_what_is_on_the_index_no_more_is_neither_held_nor_given_back(store, index):
    """Catches a scope that was done, or dropped by another worker, in the meantime, and is due again for ever."""
    with nothing_changes(store):
        store.run(due.hold(index, ["harold"]))
        store.run(due.give_back(index, [Claim("harold", "1.5")]))


def test_what_is_held_is_on_lease_until_it_is_given_back_which_postpones_no_mark(store, index):
    """Time 0: both are held. Time 1: an actor waits for a, and marks it. Time 2: both are given back; a comes first."""
    mark(store, "a", "b")
    held = store.run(due.hold(index, ["a", "b"]))
    assert [store.client.zscore(index, each.scope) for each in held] == [float(each.lease) for each in held]
    assert (names(held), claim(store)) == (["a", "b"], [])

    mark(store, "a", urgent=True)
    before = store.client.zscore(index, "a")
    store.run(due.give_back(index, held))
    assert store.client.zscore(index, "a") == before
    assert names(claim(store)) == ["a", "b"]


def test_a_place_that_is_over_or_more_than_two_leases_ahead_is_nobodys(store, index):
    """Catches a scope that nobody is given until the clock, which was set back, has come to where it was."""
    before, ahead = store.run(due.server_ms()), {f"a-{ms}": ms for ms in range(-5, 20_000, 50)}
    store.client.zadd(index, dict.fromkeys(ahead, 1))
    store.client.zadd(queued(index), {name: before + ms for name, ms in ahead.items()})
    store.client.expire(queued(index), 60)
    store.run(due.admit(index, [DueScope(name, name) for name in ahead], 1, lease_ms=5_000))
    took = store.run(due.server_ms()) - before
    turns = {ahead[name.decode()] for name in store.client.zrange(beside(index, "turns"), 0, -1)}

    assert {ms for ms in ahead.values() if ms <= 0 or ms > took + 10_000} <= turns
    assert not {ms for ms in ahead.values() if took < ms < 10_000} & turns


def test_no_lease_looks_like_a_mark_whatever_its_fraction(store, index, monkeypatch):
    """Breaks when a lease may end in a whole millisecond: a mark of that time would be lost to who says done."""
    for pick in (lambda low, _: low, lambda low, high: (low + high) // 2, lambda _, high: high - 1):
        monkeypatch.setattr(due.chance, "randrange", pick)
        mark(store, "harold")
        (held,) = claim(store)
        assert float(held.lease) % 1
        store.run(due.done(index, held))
        store.client.delete(queued(index))


def test_the_servers_clock_is_read_to_the_millisecond(store):
    for _ in range(12):
        times = [store.client.time(), store.run(due.server_ms()), store.client.time()]
        before, now, after = (at if isinstance(at, int) else at[0] * 1_000 + at[1] // 1_000 for at in times)
        assert before <= now <= after
        time.sleep(0.09)


def test_a_busy_scope_is_looked_at_when_the_lock_on_it_ends_and_at_once_when_there_is_none(store, index):
    lock = f"{store.keys.prefix}:lock:x"
    store.client.set(lock, "another", px=5_000)
    store.client.zadd(index, {"harold": 9e12})
    store.run(due.when_free(index, HAROLD, lock))
    assert 4_000 < _from_now(store, index) <= 5_002

    store.client.delete(lock)
    store.run(due.when_free(index, HAROLD, lock))
    assert -2_000 < _from_now(store, index) <= 2


@pytest.mark.parametrize(
    ("is_queued", "on_lease", "begins"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False), (True, None, True)],
)
def test_a_task_begins_while_its_scope_is_queued_or_on_its_lease(store, index, is_queued, on_lease, begins):
    """Catches a task that the scope's next look takes for another's, and one that repeats what another did."""
    mark(store, "a")
    (held,) = claim(store)
    if not is_queued:
        store.client.zrem(queued(index), "a")
    if on_lease is None:  # it is due no longer
        store.client.zrem(index, "a")
    elif not on_lease:
        mark(store, "a", urgent=True)

    assert (store.run(due.start(index, held)) == "started") is begins
    assert store.client.zscore(queued(index), "a") is None


@pytest.mark.parametrize("by", ["postponed", "taken"])
def test_a_task_whose_scope_was_put_off_or_taken_meanwhile_has_nothing_to_do(store, index, by):
    """Catches tasks that follow each other at once while a model cannot answer: each look hands out the next."""
    mark(store, "a")
    (held,) = claim(store)
    mark(store, "a")
    now = store.run(due.server_ms())
    steps = due.postpone(index, Scope("a"), now + 5_000) if by == "postponed" else due.take(index, Scope("a"))
    store.run(steps)

    assert store.run(due.start(index, held)) == "superseded"
    assert store.client.zscore(queued(index), "a") is None
    mark(store, "a")
    assert names(claim(store)) == ["a"]


def test_who_is_about_to_look_takes_a_scope_from_whoever_held_it(store, index):
    mark(store, "a")
    (held,) = claim(store)
    taken = store.run(due.take(index, Scope("a"), 5_000))
    now = 1_000 * store.client.time()[0]

    assert float(taken.lease) == store.client.zscore(index, "a") == pytest.approx(now + 5_000, abs=2_000)
    assert store.run(due.renew(index, held)) is None


def test_a_scope_that_is_not_in_the_index_cannot_be_taken(store, index):
    with nothing_changes(store):
        assert store.run(due.take(index, Scope("a"))) is None


def test_what_is_dropped_is_neither_due_nor_queued_but_for_what_was_marked_since(store, index):
    """Time 0: three scopes are claimed. Time 1: b's first message marks it. Time 2: all are to be dropped, and b stays due."""
    mark(store, "a", "b", "c", "d")
    claims = [held for held in claim(store) if held.scope != "d"]
    gone = Claim("z", "1")
    mark(store, "b")

    assert store.run(due.drop(index, [*claims, gone])) == 2
    assert {name.decode() for name in store.client.zrange(index, 0, -1)} == {"b", "d"}
    assert store.client.zrange(queued(index), 0, -1) == [b"d"]


# -- turns --------------------------------------------------------------------------------------------------------------


def turn(name, cost=1.0, *, slow=False):
    return DueScope(name, name.partition("|")[0], cost, slow)


def admit(store, *turns, capacity=1):
    store.client.zadd(store.keys.due_observe, {each.scope: 1 for each in turns}, nx=True)
    return store.run(due.admit(store.keys.due_observe, turns, capacity))


def claims(store, n=10, **options):
    return names(store.run(due.claims(store.keys.due_observe, n, **options)).scopes)


def test_a_resource_of_many_scopes_takes_turns_with_others(store):
    """Catches a queue in the order of arrival: a thousand threads of one resource before anybody else's turn."""
    admit(store, *(turn(f"noisy|t-{n:03}") for n in range(300)))
    assert claims(store, 2) == ["noisy|t-000", "noisy|t-001"]
    admit(store, turn("small"), turn("other"))

    assert set(claims(store, 4)) == {"noisy|t-002", "noisy|t-003", "small", "other"}


def test_who_has_twice_the_priority_has_twice_the_turns(store):
    admit(store, *(turn(f"a|{n}", 1.0) for n in range(90)), *(turn(f"b|{n}", 0.5) for n in range(90)))
    taken = [name[0] for name in claims(store, 60)]

    assert (taken.count("a"), taken.count("b")) == (20, 40)


def test_who_takes_a_minute_waits_for_who_takes_a_second(store):
    admit(store, *(turn(f"slow-{n}", 60.0, slow=True) for n in range(50)))
    admit(store, turn("quick"))

    assert claims(store, 1) == ["quick"]


def test_slow_ones_leave_room_and_take_it_again_when_one_of_them_ends(store, index):
    """Catches threads that all wait for one model: whoever comes next waits as long as that model takes."""
    admit(store, *(turn(f"slow-{n}", 60.0, slow=True) for n in range(9)))
    assert claims(store, slow_most=3) == ["slow-0", "slow-1", "slow-2"]
    admit(store, turn("quick"))
    assert claims(store, slow_most=3) == ["quick"]
    for held in ("slow-0", "slow-1", "slow-2"):
        assert store.run(due.start(index, Claim(held, "1.5"))) == "slow"

    assert claims(store, slow_most=3) == []
    store.run(due.ended(index, "slow-1"))
    assert claims(store, slow_most=3) == ["slow-3"]


def test_a_slow_one_whose_worker_died_makes_room_a_lease_later(store, index):
    admit(store, *(turn(f"slow-{n}", 60.0, slow=True) for n in range(3)))
    assert claims(store, slow_most=1) == ["slow-0"]
    now = store.run(due.server_ms())
    store.run(due.still_slow(index, ["slow-0", "nobody"]))
    assert store.client.zrange(beside(index, "slow"), 0, -1) == [b"slow-0"]
    store.client.zadd(beside(index, "slow"), {"slow-0": now - 1})

    assert claims(store, slow_most=1) == ["slow-1"]


def test_who_was_put_off_looked_at_or_done_meanwhile_has_lost_its_turn(store, index):
    admit(store, turn("a"), turn("b"), turn("c"), turn("d"))
    store.run(due.postpone(index, Scope("a"), 9_000_000_000_000))
    store.run(due.done(index, store.run(due.take(index, Scope("b")))))
    store.client.zrem(index, "c")

    assert claims(store) == ["d"]
    assert claims(store) == []


def test_a_mark_leaves_a_turn_as_it_is_and_one_of_a_new_time_is_given_anew(store, index):
    admit(store, turn("a"), turn("b"))
    mark(store, "a", "b", urgent=True)
    assert claims(store) == ["a", "b"]
    mark(store, "b")
    assert store.run(due.arrivals(index, 9)) == []  # its task waits, and will see why

    store.client.delete(queued(index))
    assert store.run(due.arrivals(index, 9)) == ["b"]


def test_a_time_that_somebody_wrote_as_if_it_had_a_turn_keeps_nobody_waiting(store, index):
    """Catches whoever may mark scopes, and has another one stand where nobody looks for it."""
    admit(store, turn("a"))
    store.client.zadd(index, {"harold": -9e12, "endless": "-inf", "zero": 0})

    assert sorted(store.run(due.arrivals(index, 9))) == ["endless", "harold", "zero"]
    assert sorted(names(claim(store))) == ["a", "endless", "harold", "zero"]


def test_one_without_a_turn_among_many_that_have_one_is_found_and_not_all_are_looked_at_each_time(store, index):
    """Catches a look at a million names for the sake of one."""
    names = [f"agent-{n:03}" for n in range(300)]
    store.client.zadd(index, dict.fromkeys(names, 1))
    admitted = store.run(due.admit(index, [DueScope(name, name) for name in names], 1))
    store.client.zrem(f"{index}:turns:{{{index}}}", names[150])
    found = [store.run(due.arrivals(index, 2)) for _ in range(500)]

    assert admitted == len(names)
    assert {tuple(each) for each in found} == {(), (names[150],)}


def test_where_all_turns_were_lost_every_scope_is_found_and_none_that_is_not_due(store, index):
    """Catches a bound behind which the first are found again and again, or a look beyond the last of them."""
    names = {f"agent-{n:03}" for n in range(50)}
    store.client.zadd(index, {**dict.fromkeys(names, -9e12), "later": 9e15})
    found = set[str]()
    for _ in range(500):
        come = store.run(due.arrivals(index, 2))
        store.run(due.admit(index, [DueScope(name, name) for name in come], 1))
        found.update(come)

    assert found == names
    assert store.run(due.arrivals(index, 2)) == []


def test_which_parts_have_anything_due_is_asked_of_all_of_them_at_once(store):
    """Who has a turn is due too, and who is on lease is not."""
    keys = store.keys
    store.client.set(keys.partitions, '{"count": 64}')
    store.run(learn(keys.layout))
    store.client.zadd(keys.due_observe.of("ada"), {"ada": 1})
    store.client.zadd(keys.due_observe.of("harold"), {"harold": -9e12})
    store.client.zadd(keys.due_observe.of("zoe"), {"zoe": 9e15})

    parts = sorted(part_of(name, 64) for name in ("ada", "harold"))
    assert store.run(trips(due.busy_parts(keys.due_observe))) == (parts, 2)


def test_an_only_part_is_not_asked_whether_anything_is_due(store):
    assert store.run(trips(due.busy_parts(store.keys.due_observe))) == ([0], 0)


def test_how_long_a_scope_has_been_due_is_told_whether_it_has_a_turn(store, index):
    now = store.run(due.server_ms())
    store.client.zadd(index, {"a": now - 7_000, "b": now - 3_600_000 - 9_000, "c": now + 5_000})
    assert store.run(due.longest(index, now)) == 9_000
    store.run(due.admit(index, [turn("a"), turn("b")], 1))

    assert store.run(due.longest(index, now)) == 9_000
    assert {due.due_since(score) for _, score in store.client.zrange(index, 0, -1, withscores=True)} == {
        *(now - 7_000, now - 3_600_000 - 9_000, now + 5_000)
    }


def test_a_clock_that_a_reply_has_just_told_is_not_asked_for_again(store):
    store.run(due.mark(store.keys.due_observe, [HAROLD], now=AT))

    assert store.client.zscore(store.keys.due_observe.of("harold"), "harold") == AT


def test_who_begins_a_scope_at_once_takes_no_place_in_the_queue_and_is_bounded_by_none(store):
    """Catches a thread that goes on with what comes next and fills the queue with tasks that nobody sent."""
    admit(store, *map(turn, "abc"))
    assert claims(store, 1, most=1) == ["a"]
    assert claims(store, 1, most=1) == []
    assert claims(store, 1, begun=True) == ["b"]
    assert store.client.zrange(queued(store.keys.due_observe), 0, -1) == [b"a"]
    assert claims(store, 1, begun=True) == ["c"]


def test_who_begins_a_scope_whose_task_was_lost_leaves_no_place_of_that_task(store):
    """Catches a place that counts as a waiting task until a lease, or ten, is over."""
    admit(store, turn("a"))
    assert claims(store, 1) == ["a"]
    store.client.zadd(queued(store.keys.due_observe), {"a": store.run(due.server_ms()) - 1})
    store.client.zadd(store.keys.due_observe, {"a": 1})
    admit(store, turn("a"))
    assert claims(store, 1, begun=True, grace_ms=60_000) == ["a"]
    assert store.client.zcard(queued(store.keys.due_observe)) == 0


def test_no_more_tasks_are_handed_out_than_all_who_wait_need_those_that_wait_already_included(store):
    admit(store, *(turn(f"quick-{n}") for n in range(20)))
    assert len(claims(store, 10, a_task=5)) == 4
    assert claims(store, 10, a_task=5) == []
    assert len(claims(store, 10)) == 10
