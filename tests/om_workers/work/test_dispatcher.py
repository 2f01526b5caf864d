"""What is due is handed out as the fleet can begin it: never more, never twice, and nothing that nobody wrote under."""

import json
import time

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import StoreError
from om_api.store.driver.partitions import beside
from om_api.store.fleet import presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory import due
from om_api.store.memory.keys import queued
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


def test_no_more_tasks_wait_than_the_fleet_runs_at_a_time(world, dispatcher):
    """Catches a tick that passes on whatever is due: tasks outlive their leases in the queue, and are sent anew."""
    run, elsewhere = world.services.run, Worker(name="w", host="h", pid=1, version="", queues=INDEXES, concurrency=3)
    run(presence.here(world.services.keys, elsewhere))
    for queue, room in (("observe", 7), ("reflect", 4)):
        names = [f"agent-{n:02}" for n in range(30)]
        _mark(world, *names, queue=queue)
        assert dispatcher.fill(queue, 9) == Dispatched(due=room), queue
        assert dispatcher.fill(queue, 9) == Dispatched()
        _mark(world, names[0], queue=queue)  # whoever is marked meanwhile stands in the queue once
        assert dispatcher.fill(queue, 9) == Dispatched()
        assert _queue(world, queue) == names[:room]
    world.services.presence.serve([], 4)
    world.client.delete(world.services.keys.worker("w"))
    world.client.zrem(world.services.keys.workers, "w")
    _mark(world, "late")
    assert dispatcher.fill("observe", 9) == Dispatched()  # nobody works


def test_only_who_serves_the_queue_counts_and_an_earlier_version_as_it_usually_runs(world):
    world.services.presence.serve(["ticks"], 5)
    for queues, concurrency, expected in (((), 0, 0), (("reflect",), 9, 0), (("observe",), 0, 32)):
        elsewhere = Worker(name="w", host="h", pid=1, version="", queues=queues, concurrency=concurrency)
        world.services.run(presence.here(world.services.keys, elsewhere))
        assert Dispatcher(world.services).capacity("observe") == expected, queues


def test_a_worker_that_was_not_heard_of_for_a_beat_and_a_half_counts_no_more(world, dispatcher):
    """Catches a fleet that was killed and started again: it would be handed out twice what it can begin.

    And one that counts nobody between two beats: who was heard of a beat ago lives.
    """
    dead, alive = (Worker(name=name, host="h", pid=1, version="", queues=INDEXES, concurrency=3) for name in "da")
    world.services.run(presence.here(world.services.keys, dead, presence.LIVES_MS // 2 - 1_000))
    world.services.run(presence.here(world.services.keys, alive, presence.LIVES_MS * 2 // 3))
    assert dispatcher.capacity("observe") == 7


def _lease_is_over(world, at=1):
    index = world.services.keys.due_observe
    for key in (index, queued(index)):
        world.client.zadd(key, dict.fromkeys(world.client.zrange(key, 0, -1), at))


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


def test_a_task_that_was_lost_is_handed_out_again_when_its_lease_or_ten_are_over(world, dispatcher):
    _mark(world, "harold")
    dispatcher.fill("observe", 9)
    world.dispatch.queue.clear()
    assert dispatcher.fill("observe", 9) == Dispatched()
    _lease_is_over(world)
    assert dispatcher.fill("observe", 9) == Dispatched(due=1)
    world.dispatch.elsewhere = 9
    for leases, lost in ((9, 0), (11, 1)):
        _lease_is_over(world, world.services.run(due.server_ms()) - leases * due.LEASE_MS)
        assert dispatcher.fill("observe", 9) == Dispatched(due=lost), leases


def test_a_name_that_anything_was_written_under_is_known(world, dispatcher):
    world.say("hello", thread="t-1", resource="pushed")
    world.client.zadd(f"{world.prefix}:{{plain}}:messages:t-1", {'{"role": "user", "content": "hi"}': 1})
    world.client.hset(f"{world.prefix}:{{scope}}:record:t-1", "epoch", "e")
    names = {f"{name}|t-1" for name in ("pushed", "plain", "scope")}
    world.client.zadd(f"{world.prefix}:due:observe", dict.fromkeys(names, 1))
    assert dispatcher.fill("observe", 0).unknown == 0
    assert names <= {*_queue(world)}


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


def test_a_flood_of_names_that_nobody_wrote_under_is_dropped_in_one_tick_and_delays_nobody(world, dispatcher):
    """Catches junk that is looked at as far as there is room, and a thread that is taken for known with its resource."""
    nonsense = [b"\xff\xfe", "", "a b", "harold|", "x" * 201, "{albert}", *(f"harold|made-up-{n}" for n in range(9))]
    for queue in INDEXES:
        index = f"{world.prefix}:due:{queue}"
        _mark(world, "harold", queue=queue, at=5)
        world.client.zadd(index, dict.fromkeys([*nonsense, *(f"junk-{n}" for n in range(1_200))], "-inf"))
        assert dispatcher.fill(queue, 60) == Dispatched(due=1, unknown=1_215)
        assert _queue(world, queue) == ["harold"]
        assert world.client.zrange(index, 0, -1) == [b"harold"]
    assert world.client.hget(world.services.keys.counted, "unknown") == b"2430"


def test_what_a_worker_says_of_itself_neither_stops_nor_floods_the_others(world):
    keys, ends = world.services.keys, world.client.time()[0] * 1_000 + 90_000
    there = {"name": "w", "host": "h", "pid": 1, "version": "", "queues": ["observe"]}
    world.client.zadd(keys.workers, {"w": ends, b"\xff": ends})
    world.client.expire(keys.workers, 60)
    rows = [({**there, "concurrency": -1_000}, 32), ({**there, "concurrency": 9 * 10**18}, 1_000), (None, 0)]
    for said, more in rows:
        world.client.set(keys.worker("w"), json.dumps(said) if said else b'{"name":"\xff"}', ex=60)
        assert Dispatcher(world.services).room("observe") == 4 + more, said


class _Refusing:
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


def test_what_goes_wrong_with_handing_out_the_next_is_said_and_stops_no_work(world):
    _mark(world, "harold")
    with capture_logs() as lines:
        Dispatcher(world.services._replace(queues=_Refusing(world, 0))).refill("observe")
    assert [(line["event"], line["queue"]) for line in lines] == [("refill_failed", "observe")]


def test_who_stops_hands_out_nothing_more(world, dispatcher):
    """Time 0: a worker that stops gives a scope back. Time 1: it hands it out again, to itself: nobody finds it due."""
    _mark(world, "harold")
    world.services.stopping.ask(9)
    dispatcher.refill("observe")
    assert _queue(world) == []


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


def test_the_common_clock_does_not_run_while_no_scope_waits(world, dispatcher):
    """Fails when idle hours count as waiting: a resource that comes back after them is put behind all others."""
    shares, clocks = beside(world.services.keys.due_observe, "shares"), []
    for n in range(2):
        _mark(world, f"agent-{n}")
        dispatcher.fill("observe", 9)
        clocks.append(world.client.zscore(shares, "*clock"))
        time.sleep(0.02)

    assert clocks == [0, 0]
