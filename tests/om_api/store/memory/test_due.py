"""claim, renew, done, mark: who looks next, and that a mark is never lost to somebody who has looked."""

import pytest
from scene import AT, HAROLD, emptied, nothing_changes, push, trips, unchanged

from om_api.domain.values import Scope
from om_api.store.driver.partitions import learn, part_of
from om_api.store.memory import due
from om_api.store.memory.due import Claim, DueScope
from om_api.store.memory.keys import beside, queued

LATER = 9_000_000_000_000


@pytest.fixture
def index(store):
    return store.keys.due_observe


def mark(store, *names, urgent=False):
    store.run(due.mark(store.keys.due_observe, [Scope(name) for name in names], urgent=urgent))


def claim(store, n=10):
    return store.run(due.claim(store.keys.due_observe, n))


def claimed(store, name="harold"):
    mark(store, name)
    (held,) = claim(store)
    return held


def names(claims):
    return [held.scope for held in claims]


def from_now(store, index):
    seconds, micros = store.client.time()
    return store.client.zscore(index, "harold") - (seconds * 1_000 + micros / 1_000)


def test_claim_takes_due_scopes_lowest_first_once_and_no_more_than_asked(store, index):
    store.client.zadd(index, {"c": 3, "a": 1, "b": 2, "later": LATER})

    assert names(claim(store, 2)) == ["a", "b"]
    assert names(claim(store)) == ["c"]
    with nothing_changes(store):
        assert claim(store) == []

    mark(emptied(store), "first")
    mark(store, "urgent", urgent=True)
    assert names(claim(store, 1)) == ["urgent"]


def test_claim_that_takes_nobody_keeps_nothing_for_longer(store, index):
    """Breaks when every look at an idle index writes something."""
    store.client.zadd(queued(index), {"lost": 1})
    store.client.pexpire(queued(index), 60_000)

    assert claim(store) == []
    assert store.client.zscore(queued(index), "lost") == 1
    assert store.client.pttl(queued(index)) <= 60_000


def test_claim_gives_a_scope_again_when_its_lease_ran_out_and_its_loser_is_not_done(store, index):
    """Breaks when done trusts whoever says it: time 0 A claims, time 1 its lease is over, time 2 B claims, time 3 A is done."""
    mark(store, "harold")
    (lost,) = store.run(due.claim(index, 1, lease_ms=-1_000))
    (held,) = claim(store)

    assert lost.lease != held.lease
    assert [store.run(due.done(index, each)) for each in (lost, held)] == [False, True]


def test_claim_leases_for_half_a_minute_and_keeps_the_place_for_twenty_leases(store, index):
    held = claimed(store)
    assert store.client.zscore(index, "harold") == float(held.lease) != int(float(held.lease))
    for key in (index, queued(index)):
        assert 29_000 < from_now(store, key) <= 30_001
        assert 590_000 < store.client.pttl(queued(index)) <= 600_000
        store.client.pexpire(queued(index), 1_000)
        store.run(due.keep(index, ["harold"]))


def test_mark_goes_ahead_by_what_was_waited_by_a_lease_at_most_and_never_postpones(store, index, monkeypatch):
    """Catches a chunk that stands behind every scope that came due since it was sealed, and one that overtakes for ever."""
    mark(store, "harold", urgent=True)
    before = store.client.zscore(index, "harold")
    mark(store, "harold")
    assert store.client.zscore(index, "harold") == before

    def stopped():
        yield from ()
        return now

    now = store.run(due.server_ms())
    monkeypatch.setattr(due, "server_ms", stopped)
    for waited_s, ahead_s in ((None, 0), (-3_600, 0), (0, 0), (7, 7), (30, 30), (3_600, 30)):
        emptied(store)
        store.run(due.mark(index, ["harold"], since=None if waited_s is None else now - waited_s * 1_000))
        assert store.client.zscore(index, "harold") == now - ahead_s * 1_000, waited_s
    store.run(due.mark(index, [Scope("albert")], now=AT))  # a clock that a reply has just told
    assert store.client.zscore(index, "albert") == AT
    with nothing_changes(store):
        store.run(due.mark(index, []))


def test_renew_is_for_the_holder_alone_until_a_mark(store, index):
    held = claimed(store)
    renewed = store.run(due.renew(index, held, 90_000))
    assert float(renewed.lease) > float(held.lease)
    assert unchanged(store, due.renew(index, held)) is None
    mark(store, "harold")
    assert unchanged(store, due.renew(index, renewed)) is None


def test_done_takes_a_scope_off_or_leaves_it_for_later_unless_it_was_marked(store, index):
    """Breaks when done trusts its look: time 0 nothing is left to do, time 1 a push marks, time 2 done takes the mark away."""
    held = claimed(store)
    assert store.run(due.done(index, held)) is True
    assert store.client.exists(index) == 0
    assert unchanged(store, due.done(index, held)) is False
    assert store.run(due.done(index, claimed(emptied(store)), LATER)) is True
    assert store.client.zscore(index, "harold") == LATER
    for later in (None, LATER):
        held = claimed(emptied(store))
        push(store, 1)
        assert unchanged(store, due.done(index, held, later)) is False, later


def test_postpone_and_sooner_change_only_what_is_due(store, index):
    """Breaks without XX: what is done would be due again for ever. Breaks without LT: a lock that is renewed delays a scope."""
    store.run(due.postpone(index, HAROLD, 5))
    store.run(due.sooner(index, HAROLD, 5))
    assert store.client.exists(index) == 0

    store.client.zadd(index, {"harold": 1_000})
    store.run(due.sooner(index, HAROLD, 2_000))
    assert store.client.zscore(index, "harold") == 1_000
    store.run(due.sooner(index, HAROLD, 5))
    assert store.client.zscore(index, "harold") == 5
    store.run(due.postpone(index, HAROLD, LATER))
    assert claim(store) == []


def test_what_is_not_on_the_index_is_not_kept_taken_held_or_given_back(store, index):
    """Catches a scope that was done, or dropped by another worker, in the meantime, and is due again for ever."""
    gone = Claim("harold", "1.5")
    with nothing_changes(store):
        store.run(due.keep(index, ["harold"]))
        assert store.run(due.take(index, HAROLD)) is None
        assert store.run(due.done(index, gone)) is False
        store.run(due.hold(index, ["harold"]))
        store.run(due.give_back(index, [gone]))


def test_hold_leases_until_it_is_given_back_which_postpones_no_mark(store, index):
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


def test_take_takes_a_scope_from_whoever_held_it(store, index):
    held = claimed(store)
    taken = store.run(due.take(index, HAROLD, 5_000))

    assert float(taken.lease) == store.client.zscore(index, "harold")
    assert 3_000 < from_now(store, index) <= 5_002
    assert store.run(due.renew(index, held)) is None


def test_admit_gives_a_turn_to_places_that_are_over_or_more_than_two_leases_ahead(store, index):
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


def test_when_free_looks_again_when_the_lock_ends_and_at_once_when_there_is_none(store, index):
    lock = f"{store.keys.prefix}:lock:x"
    store.client.set(lock, "another", px=5_000)
    store.client.zadd(index, {"harold": 9e12})
    store.run(due.when_free(index, HAROLD, lock))
    assert 3_000 < from_now(store, index) <= 5_002

    store.client.delete(lock)
    store.run(due.when_free(index, HAROLD, lock))
    assert from_now(store, index) <= 2


def test_start_begins_a_task_while_its_scope_is_queued_or_on_its_lease(store, index):
    """Catches a task that the scope's next look takes for another's, and one that repeats what another did."""
    for is_queued, is_on in ((True, "lease"), (True, "mark"), (False, "lease"), (False, "mark"), (True, "")):
        held = claimed(emptied(store), "a")
        if not is_queued:
            store.client.zrem(queued(index), "a")
        if is_on == "mark":
            mark(store, "a", urgent=True)
        if not is_on:
            store.client.zrem(index, "a")
        begins = store.run(due.start(index, held)) == "started"
        assert begins is (is_queued or is_on == "lease"), (is_queued, is_on)
        assert store.client.zscore(queued(index), "a") is None

    held = claimed(emptied(store), "a")
    assert store.run(due.start(index, held)) == "started"
    mark(store, "a")
    assert names(claim(store)) == ["a"]


def test_start_has_nothing_to_do_when_its_scope_was_put_off_or_taken_meanwhile(store, index):
    """Catches tasks that follow each other at once while a model cannot answer: each look hands out the next."""
    for by in ("postponed", "taken"):
        held = claimed(emptied(store), "a")
        mark(store, "a")
        now = store.run(due.server_ms())
        store.run(due.postpone(index, Scope("a"), now + 5_000) if by == "postponed" else due.take(index, Scope("a")))

        assert store.run(due.start(index, held)) == "superseded", by
        assert store.client.zscore(queued(index), "a") is None
        mark(store, "a")
        assert names(claim(store)) == ["a"], by


def test_drop_takes_scopes_off_the_index_and_the_queue_but_for_what_was_marked_since(store, index):
    """Time 0: three scopes are claimed. Time 1: b's first message marks it. Time 2: all are to be dropped, and b stays due."""
    mark(store, "a", "b", "c", "d")
    claims = [held for held in claim(store) if held.scope != "d"]
    mark(store, "b")

    assert store.run(due.drop(index, [*claims, Claim("z", "1")])) == 2
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


def test_turns_are_shared_among_resources_by_priority_and_by_what_they_take(store):
    """Catches a queue in the order of arrival: a thousand threads of one resource before anybody else's turn."""
    admit(store, *(turn(f"noisy|t-{n:03}") for n in range(300)))
    assert claims(store, 2) == ["noisy|t-000", "noisy|t-001"]
    admit(store, turn("small"), turn("other"))
    assert set(claims(store, 4)) == {"noisy|t-002", "noisy|t-003", "small", "other"}

    emptied(store)
    admit(store, *(turn(f"a|{n}", 1.0) for n in range(90)), *(turn(f"b|{n}", 0.5) for n in range(90)))
    taken = [name[0] for name in claims(store, 60)]
    assert (taken.count("a"), taken.count("b")) == (20, 40)

    emptied(store)
    admit(store, *(turn(f"slow-{n}", 60.0, slow=True) for n in range(50)))
    admit(store, turn("quick"))
    assert claims(store, 1) == ["quick"]


def test_slow_turns_leave_room_and_take_it_again_when_one_of_them_ends(store, index):
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

    now = store.run(due.server_ms())  # the workers of all but one die
    store.run(due.still_slow(index, ["slow-0", "nobody"]))
    assert b"nobody" not in store.client.zrange(beside(index, "slow"), 0, -1)
    store.client.zadd(beside(index, "slow"), {"slow-2": now - 1, "slow-3": now - 1})
    assert claims(store, slow_most=2) == ["slow-4"]


def test_turns_are_lost_by_what_was_put_off_looked_at_or_done_meanwhile(store, index):
    admit(store, turn("a"), turn("b"), turn("c"), turn("d"))
    store.run(due.postpone(index, Scope("a"), LATER))
    store.run(due.done(index, store.run(due.take(index, Scope("b")))))
    store.client.zrem(index, "c")

    assert [claims(store), claims(store)] == [["d"], []]


def test_arrivals_are_scopes_without_a_turn(store, index):
    """Catches whoever may mark scopes, and has another one stand where nobody looks for it."""
    admit(store, turn("a"), turn("b"))
    mark(store, "a", "b", urgent=True)
    assert claims(store) == ["a", "b"]
    mark(store, "b")
    assert store.run(due.arrivals(index, 9)) == []  # its task waits, and will see why
    store.client.delete(queued(index))
    assert store.run(due.arrivals(index, 9)) == ["b"]

    admit(emptied(store), turn("a"))
    store.client.zadd(index, {"harold": -9e12, "endless": "-inf", "zero": 0})
    assert sorted(store.run(due.arrivals(index, 9))) == ["endless", "harold", "zero"]
    assert sorted(names(claim(store))) == ["a", "endless", "harold", "zero"]


def test_arrivals_find_every_scope_without_looking_at_all_of_them_each_time(store, index):
    """Catches a look at a million names for the sake of one, and a bound behind which the first are found for ever."""
    scopes = [f"agent-{n:03}" for n in range(300)]
    store.client.zadd(index, dict.fromkeys(scopes, 1))
    admitted = store.run(due.admit(index, [DueScope(name, name) for name in scopes], 1))
    store.client.zrem(beside(index, "turns"), scopes[150])
    found = {tuple(store.run(due.arrivals(index, 2))) for _ in range(500)}
    assert (admitted, found) == (len(scopes), {(), (scopes[150],)})

    store.client.zadd(emptied(store).keys.due_observe, {**dict.fromkeys(scopes[:50], -9e12), "later": 9e15})
    come = set()
    for _ in range(500):
        some = store.run(due.arrivals(index, 2))
        store.run(due.admit(index, [DueScope(name, name) for name in some], 1))
        come.update(some)
    assert (come, store.run(due.arrivals(index, 2))) == (set(scopes[:50]), [])


def test_busy_parts_are_asked_of_all_parts_at_once(store):
    """Who has a turn is due too, and who is on lease is not."""
    keys = store.keys
    assert store.run(trips(due.busy_parts(keys.due_observe))) == ([0], 0)
    store.client.set(keys.partitions, '{"count": 64}')
    store.run(learn(keys.layout))
    for name, score in {"ada": 1, "harold": -9e12, "zoe": 9e15}.items():
        store.client.zadd(keys.due_observe.of(name), {name: score})

    parts = sorted(part_of(name, 64) for name in ("ada", "harold"))
    assert store.run(trips(due.busy_parts(keys.due_observe))) == (parts, 2)


def test_claims_begun_at_once_take_no_place_in_the_queue_and_are_bounded_by_none(store, index):
    """Catches a thread that goes on with what comes next and fills the queue with tasks that nobody sent."""
    admit(store, *map(turn, "abc"))
    assert claims(store, 1, most=1) == ["a"]
    assert claims(store, 1, most=1) == []
    assert claims(store, 1, begun=True) == ["b"]
    assert store.client.zrange(queued(index), 0, -1) == [b"a"]
    assert claims(store, 1, begun=True) == ["c"]

    admit(emptied(store), turn("a"))  # whose task was lost: no place of that task is left
    assert claims(store, 1) == ["a"]
    store.client.zadd(queued(index), {"a": store.run(due.server_ms()) - 1})
    store.client.zadd(index, {"a": 1})
    admit(store, turn("a"))
    assert claims(store, 1, begun=True, grace_ms=60_000) == ["a"]
    assert store.client.zcard(queued(index)) == 0


def test_claims_hand_out_as_many_tasks_as_all_who_wait_need(store):
    admit(store, *(turn(f"quick-{n}") for n in range(20)))
    assert len(claims(store, 10, a_task=5)) == 4
    assert claims(store, 10, a_task=5) == []
    assert len(claims(store, 10)) == 10


def test_longest_counts_from_when_a_scope_came_due_whether_or_not_it_has_a_turn(store, index):
    now = store.run(due.server_ms())
    times = {"a": now - 7_000, "b": now - 3_600_000 - 9_000, "c": now + 5_000}
    store.client.zadd(index, times)
    assert store.run(due.longest(index, now)) == 9_000
    store.run(due.admit(index, [DueScope("a", "a"), DueScope("b", "b")], 1))

    assert store.run(due.longest(index, now)) == 9_000
    assert {due.due_since(score) for _, score in store.client.zrange(index, 0, -1, withscores=True)} == {
        *times.values()
    }
