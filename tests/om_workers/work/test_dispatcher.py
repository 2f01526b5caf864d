"""What is due is handed out as the fleet can begin it: never more, never twice, and nothing that nobody wrote under."""

import json

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import StoreError
from om_api.store.fleet import presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory import due
from om_api.store.memory.keys import beside, queued
from om_workers.work.dispatcher import Dispatched, Dispatcher

INDEXES = ("observe", "reflect")


@pytest.fixture
def world(client, prefix):
    world = World(client, prefix)
    world.services.presence.serve(["observe", "reflect"], 4)
    return world


@pytest.fixture
def dispatcher(world):
    return Dispatcher(world.services)


def _mark(world, *names, queue="observe", at=1):
    for name in names:
        world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.client.zadd(f"{world.prefix}:due:{queue}", dict.fromkeys(names, at))


def _queue(world, queue="observe"):
    return [ids[0] for verb, ids in world.dispatch.queue if verb == queue]


def _waiting(world, queue="observe"):
    return world.client.zcard(queued(f"{world.prefix}:due:{queue}"))


@pytest.mark.parametrize(("queue", "room"), [("observe", 7), ("reflect", 4)])
def test_no_more_tasks_wait_than_the_fleet_runs_at_a_time(world, dispatcher, queue, room):
    """Catches a tick that passes on whatever is due: tasks outlive their leases in the queue, and are sent anew."""
    _mark(world, *(f"agent-{n:03}" for n in range(250)), queue=queue)
    run, elsewhere = world.services.run, Worker(name="w", host="h", pid=1, version="", queues=INDEXES, concurrency=3)
    run(presence.here(world.services.keys, elsewhere))

    assert dispatcher.fill(queue, 9) == Dispatched(due=room)
    assert dispatcher.fill(queue, 9) == Dispatched()
    assert _queue(world, queue) == [f"agent-{n:03}" for n in range(room)]


def test_a_fleet_that_runs_hundreds_is_given_hundreds(world, dispatcher):
    world.services.presence.serve(["observe"], 230)
    _mark(world, *(f"agent-{n:03}" for n in range(240)))

    assert dispatcher.fill("observe", 9) == Dispatched(due=230)


@pytest.mark.parametrize(
    ("queues", "concurrency", "expected"), [((), 0, 0), (("reflect",), 9, 0), (("observe",), 0, 32)]
)
def test_only_who_serves_the_queue_counts_and_an_earlier_version_as_it_usually_runs(
    world, dispatcher, queues, concurrency, expected
):
    world.services.presence.serve(["ticks"], 5)
    elsewhere = Worker(name="w", host="h", pid=1, version="", queues=queues, concurrency=concurrency)
    world.services.run(presence.here(world.services.keys, elsewhere))

    assert dispatcher.capacity("observe") == expected


def test_a_worker_that_was_not_heard_of_for_a_beat_and_a_half_counts_no_more(world, dispatcher):
    """Catches a fleet that was killed and started again: it would be handed out twice what it can begin.

    And one that counts nobody between two beats: who was heard of a beat ago lives.
    """
    dead, alive = (Worker(name=name, host="h", pid=1, version="", queues=INDEXES, concurrency=3) for name in "da")
    world.services.run(presence.here(world.services.keys, dead, presence.LIVES_MS // 2 - 1_000))
    world.services.run(presence.here(world.services.keys, alive, presence.LIVES_MS * 2 // 3))

    assert dispatcher.capacity("observe") == 7


def test_whoever_begins_a_task_hands_out_what_comes_next(world, dispatcher):
    """Catches a queue that only ticks fill: a fleet would do its concurrency's worth of work in ten seconds."""
    _mark(world, *(f"agent-{n}" for n in range(9)))
    dispatcher.fill("observe", 9)
    done = []
    while world.dispatch.queue:
        _, task = world.dispatch.queue.popleft()
        assert dispatcher.begin("observe", *task)
        done.append(task[0])
        dispatcher.refill("observe")

        assert _waiting(world) <= 4
    assert done == [f"agent-{n}" for n in range(9)]


def test_a_large_fleet_is_handed_out_several_at_once(world, dispatcher):
    world.services.presence.serve(["observe"], 8)
    _mark(world, *(f"agent-{n}" for n in range(20)))
    dispatcher.fill("observe", 9)
    handed = []
    for _ in range(4):
        assert dispatcher.begin("observe", *world.dispatch.queue.popleft()[1])
        before = len(world.dispatch.queue)
        dispatcher.refill("observe")
        handed.append(len(world.dispatch.queue) - before)

    assert handed == [0, 2, 0, 2]


def test_a_scope_stands_in_the_queue_once_whoever_marks_it_meanwhile(world, dispatcher):
    """Time 0: a task waits. Time 1: a push marks its scope. Time 2: a tick. Time 3: the task begins, and sees the push."""
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    _mark(world, "harold")

    assert dispatcher.fill("observe", 9) == Dispatched()
    assert _queue(world) == ["harold"]


def test_of_two_tasks_of_one_scope_the_second_has_nothing_to_do(world, dispatcher):
    """Time 0: a task waits for longer than its lease. Time 1: the scope is handed out anew. Time 2: both begin."""
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    world.client.delete(queued(world.services.keys.due_observe))
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    first, second = (ids for _, ids in world.dispatch.queue)
    assert first != second

    assert dispatcher.begin("observe", *first)
    world.scope_worker().observe("harold")
    assert not dispatcher.begin("observe", *second)


def test_a_task_of_a_version_that_keeps_no_queue_begins_on_its_own_lease(world, dispatcher):
    _mark(world, "harold")
    (claim,) = world.services.run(due.claim(world.services.keys.due_observe, 1))
    world.client.delete(queued(world.services.keys.due_observe))

    assert dispatcher.begin("observe", *claim)


def _lease_is_over(world, at=1):
    index = world.services.keys.due_observe
    for key in (index, queued(index)):
        world.client.zadd(key, dict.fromkeys(world.client.zrange(key, 0, -1), at))


def test_a_task_that_was_lost_is_handed_out_again_when_its_lease_is_over(world, dispatcher):
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    world.dispatch.queue.clear()
    assert dispatcher.fill("observe", 9) == Dispatched()

    _lease_is_over(world)
    assert dispatcher.fill("observe", 9) == Dispatched(due=1)


def test_none_is_lost_while_tasks_wait_in_the_queue_or_their_worker_lives(world, dispatcher):
    """Catches a tick after an outage of all workers: whatever still waits would be handed out a second time."""
    _mark(world, "harold", "albert")
    dispatcher.fill("observe", 9)
    index = world.services.keys.due_observe
    now = world.services.run(due.server_ms())
    for key in (index, queued(index)):
        world.client.zadd(key, {"harold": now - 1, "albert": now - 1})
    world.dispatch.elsewhere = 1
    assert dispatcher.fill("observe", 9) == Dispatched()

    world.dispatch.elsewhere = 0
    world.dispatch.taken = {"observe": ["albert", "somebody who was begun"]}
    dispatcher.keep()
    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert _queue(world)[2:] == ["harold"]
    assert world.client.zscore(queued(index), "somebody who was begun") is None


@pytest.mark.parametrize(("leases", "lost"), [(9, 0), (11, 1)])
def test_a_task_that_waits_ten_leases_is_lost_though_others_wait(world, dispatcher, leases, lost):
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    world.dispatch.elsewhere = 9
    _lease_is_over(world, world.services.run(due.server_ms()) - leases * due.LEASE_MS)

    assert dispatcher.fill("observe", 9) == Dispatched(due=lost)


@pytest.mark.parametrize("queue", INDEXES)
def test_names_that_nobody_ever_wrote_under_are_dropped_counted_and_delay_nobody(world, dispatcher, queue):
    """Catches one agent that marks thousands of names: each would be a task and a look before anybody else's turn."""
    nonsense = [b"\xff\xfe", "", "a b", "harold|", "x" * 201, "{albert}"]
    world.client.zadd(f"{world.prefix}:due:{queue}", dict.fromkeys([*nonsense, *(f"junk-{n}" for n in range(900))], 0))
    _mark(world, "harold", queue=queue)

    assert dispatcher.fill(queue, 9) == Dispatched(due=1, unknown=906)
    assert _queue(world, queue) == ["harold"]
    assert world.client.zrange(f"{world.prefix}:due:{queue}", 0, -1) == [b"harold"]
    assert world.client.hget(world.services.keys.counted, "unknown") == b"906"


@pytest.mark.parametrize("wrote", ["push", "plain", "scope"])
def test_a_name_that_anything_was_written_under_is_known(world, dispatcher, wrote):
    if wrote == "push":
        world.say("hello", thread="t-1")
    elif wrote == "plain":
        world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {'{"role": "user", "content": "hi"}': 1})
    else:
        world.client.hset(f"{world.prefix}:{{harold}}:record:t-1", "epoch", "e")
    world.client.zadd(f"{world.prefix}:due:observe", {"harold|t-1": 1})

    assert dispatcher.fill("observe", 0).unknown == 0
    assert "harold|t-1" in _queue(world)


def test_a_first_message_that_comes_while_its_name_is_dropped_stays_due(world, dispatcher, monkeypatch):
    """Time 0: a name is claimed, nothing was written. Time 1: its first message comes. Time 2: the name is dropped."""
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 0})
    drop = due.drop

    def overtaken(index, claims):
        if claims:
            world.say("the first")
        return drop(index, claims)

    monkeypatch.setattr(due, "drop", overtaken)

    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert _queue(world) == ["harold"]


def test_a_first_message_that_comes_before_its_name_is_held_stays_due(world, dispatcher, monkeypatch):
    """Time 0: a name is due, nothing was written. Time 1: its first message comes, and marks it no later. Time 2: it is held."""
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": 0})
    hold = due.hold

    def overtaken(index, names):
        if names:
            world.say("the first")
        return hold(index, names)

    monkeypatch.setattr(due, "hold", overtaken)

    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert _queue(world) == ["harold"]


def test_a_flood_of_names_is_dropped_in_one_tick_however_few_tasks_may_wait(world, dispatcher):
    """Catches junk that is looked at as far as there is room: with four threads 15,000 names took a tick."""
    _mark(world, "harold", at=5)
    for start in range(0, 5_000, 1_000):
        world.client.zadd(f"{world.prefix}:due:observe", {f"junk-{n}": "-inf" for n in range(start, start + 1_000)})

    assert dispatcher.fill("observe", 60) == Dispatched(due=1, unknown=5_000)
    assert _queue(world) == ["harold"]
    assert world.client.zcard(f"{world.prefix}:due:observe") == 1


def test_threads_that_nobody_wrote_under_are_no_scopes_though_their_resource_is_one(world, dispatcher):
    """Catches a thread that is taken for known with its resource: 20,000 made-up threads were 20,000 tasks."""
    world.say("hello")
    world.client.zadd(f"{world.prefix}:due:observe", {f"harold|made-up-{n}": 0 for n in range(9)})

    assert dispatcher.fill("observe", 9) == Dispatched(due=1, unknown=9)
    assert _queue(world) == ["harold"]


@pytest.mark.parametrize(
    ("said", "more"), [({"concurrency": -1_000}, 32), ({"concurrency": 9 * 10**18}, 1_000), (None, 0)]
)
def test_what_a_worker_says_of_itself_neither_stops_nor_floods_the_others(world, dispatcher, said, more):
    keys, ends = world.services.keys, world.client.time()[0] * 1_000 + 90_000
    there = {"name": "w", "host": "h", "pid": 1, "version": "", "queues": ["observe"]}
    world.client.zadd(keys.workers, {"w": ends, b"\xff": ends})
    world.client.set(keys.worker("w"), json.dumps({**there, **said}) if said else b'{"name":"\xff"}', ex=60)
    world.client.expire(keys.workers, 60)

    assert dispatcher.room("observe") == 4 + more


def test_places_of_before_the_clock_was_set_back_hold_nobody_up(world, dispatcher):
    """Catches places that end in a week: nothing would be handed out until then."""
    index = f"{world.prefix}:due:observe"
    world.client.zadd(queued(index), {f"gone-{n}": 9e15 for n in range(9)} | {"endless": "inf"})
    world.client.expire(queued(index), 60)
    _mark(world, "harold")

    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert world.client.zrange(queued(index), 0, -1) == [b"harold"]


class _Refusing:
    """A broker that takes a few tasks and then refuses."""

    def __init__(self, world, takes):
        self._inner, self._left = world.dispatch, takes

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def observe(self, scope, lease):
        self._left -= 1
        if self._left < 0:
            raise StoreError("the broker is away")
        self._inner.observe(scope, lease)


def test_what_the_broker_did_not_take_keeps_no_place_and_is_handed_out_when_it_is_back(world, dispatcher):
    """Catches places of tasks that nobody was given: one hiccup of the broker, and nobody is handed out for a lease."""
    _mark(world, "a", "b", "c", at=2)
    world.client.zadd(f"{world.prefix}:due:observe", {"nobody": 1})
    refusing = Dispatcher(world.services._replace(queues=_Refusing(world, 1)))

    with pytest.raises(StoreError, match="the broker is away"):
        refusing.fill("observe", 9)
    assert _waiting(world) == 1
    assert world.client.zscore(f"{world.prefix}:due:observe", "nobody") is None

    assert dispatcher.fill("observe", 9) == Dispatched(due=2)
    assert _queue(world) == ["a", "b", "c"]


def test_what_goes_wrong_with_handing_out_the_next_is_said_and_stops_no_work(world, dispatcher, monkeypatch):
    def away(*_):
        raise StoreError("the broker is away", stored=False)

    _mark(world, "harold")
    dispatcher = Dispatcher(world.services._replace(queues=type("Away", (), {"observe": away, "reflect": away})()))
    with capture_logs() as lines:
        dispatcher.refill("observe")

    assert [(line["event"], line["queue"]) for line in lines] == [("refill_failed", "observe")]


def test_who_stops_hands_out_nothing_more(world, dispatcher):
    """Time 0: a worker that stops gives a scope back. Time 1: it hands it out again, to itself: nobody finds it due."""
    _mark(world, "harold")
    world.services.stopping.ask(9)
    dispatcher.refill("observe")

    assert _queue(world) == []


def test_where_nobody_works_what_is_due_stays_where_it_is(world, dispatcher):
    _mark(world, "harold")
    world.services.presence.serve([], 4)

    assert dispatcher.fill("observe", 9) == Dispatched()
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") == 1


def test_a_look_that_finds_nothing_left_ends_the_claim_whoever_made_it(world):
    """Time 0: a look hands a chunk out, and its lease stays. Time 1: the chunk's observation is stored, and a look follows.

    Catches a look that ends only its own claim: each observation would cost another task a lease later.
    """
    world.say(*[f"message {n}" for n in range(4)])
    world.settle()

    idle = world.settings.memory.observe_idle_after * 1000
    deadline = world.client.zscore(f"{world.prefix}:due:observe", "harold")
    assert deadline is None or deadline > world.services.run(due.server_ms()) + idle / 2


def test_a_look_ends_no_claim_over_a_push_that_it_has_not_seen(world, monkeypatch):
    """Time 0: a look reads. Time 1: a message comes, and marks the scope. Time 2: the look, which found nothing, is done."""
    world.say("first")
    done = due.done
    monkeypatch.setattr(due, "done", lambda *args: world.say("y" * 50, tokens=900) and done(*args))
    world.perform("observe", "harold")
    monkeypatch.undo()

    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") <= world.services.run(due.server_ms())


def test_thousands_of_turns_that_were_lost_hold_nobody_up(world, dispatcher):
    """Time 0: 3,000 agents have their turn. Time 1: they are cleared. Time 2: whoever comes next begins at once.

    Catches a tick that passes by as many lost turns as there is room for tasks: with four threads, others waited for hours.
    """
    index, gone = world.services.keys.due_observe, [f"gone-{n}" for n in range(3_000)]
    world.client.zadd(index, dict.fromkeys(gone, 1))
    for start in range(0, len(gone), 1_000):
        turns = [due.DueScope(name, name) for name in gone[start : start + 1_000]]
        assert world.services.run(due.admit(index, turns, 4)) == 1_000
    world.client.zrem(index, *gone)
    _mark(world, "harold", at=world.services.run(due.server_ms()))

    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert _queue(world) == ["harold"]


def test_turns_are_kept_while_nobody_new_comes(world, dispatcher):
    """Catches a backlog whose turns expire after ten minutes: all of it would be given turns anew, and in another order."""
    _mark(world, *(f"agent-{n}" for n in range(9)))
    dispatcher.fill("observe", 9)
    turns = beside(world.services.keys.due_observe, "turns")
    world.client.pexpire(turns, 5_000)
    dispatcher.fill("observe", 9)

    assert world.client.pttl(turns) > 60_000


def test_a_thousand_that_wait_as_tasks_and_were_marked_hide_nobody(world):
    """Time 0: 1,000 tasks wait. Time 1: pushes mark their scopes. Time 2: another agent comes due, and there is room for it."""
    world.services.presence.serve(["observe"], 1_000)
    elsewhere = Worker(name="w", host="h", pid=1, version="", queues=INDEXES, concurrency=9)
    world.services.run(presence.here(world.services.keys, elsewhere))
    names = [f"agent-{n}" for n in range(1_000)]
    _mark(world, *names)
    dispatcher = Dispatcher(world.services)
    assert dispatcher.fill("observe", 9) == Dispatched(due=1_000)
    _mark(world, *names, at=2)
    _mark(world, "harold", at=3)

    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    assert _queue(world)[-1] == "harold"
