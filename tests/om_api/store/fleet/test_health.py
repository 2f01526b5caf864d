"""Health of servers, workers, ticks and queues, and how far settings were made known."""

import time
from types import SimpleNamespace

import msgspec
import pytest

from om_api.domain.errors import StoreError
from om_api.store.driver.steps import ALONE
from om_api.store.fleet import health, presence, rollout
from om_api.store.fleet.backlog import FleetBacklog, backlog
from om_api.store.fleet.health import Condition, Standings, Waiting
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.fleet.rollout import Progress

HOUR_MS = 3_600_000
NAMES = ("ada", "berta", "cleo", "dora", "elsa", "finn")  # as workers looked at them


def refused(steps):
    """What steps return when the store refuses the first thing they ask."""
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.throw(StoreError("not for you"))
    return ended.value.value


def answered(steps, reply):
    """What steps return when the store gives one reply."""
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.send([reply])
    return ended.value.value


@pytest.mark.one_server
def test_a_server_that_refuses_gives_its_refusal_and_no_error(store):
    assert store.run(health.probe(store.keys)) is None
    assert str(refused(health.probe(store.keys))) == "not for you"
    assert refused(health.info()) is None
    assert refused(health.configured("maxmemory")) is None
    assert [each.node for each in store.run(health.servers())] == [ALONE]
    assert store.run(health.unserved()) == 0


def test_info_and_directives_are_read_in_every_form():
    for reply in ({"redis_version": "8.0", "port": 1}, b"# Server\r\nredis_version:8.0\r\nport:1\r\n"):
        assert answered(health.info(), reply) == {"redis_version": "8.0", "port": "1"}
    for reply in ({"maxmemory": "0"}, [b"maxmemory", b"0"], {b"maxmemory": b"0"}):
        assert answered(health.configured("maxmemory"), reply) == "0", reply
    for reply in ({}, []):
        assert answered(health.configured("maxmemory"), reply) is None, reply


def test_a_due_index_tells_how_many_are_due_and_how_long_the_first_of_them_waits(store):
    """An urgent scope is written an hour ahead of the time it came due."""
    now = time.time() * 1000
    store.client.zadd(store.keys.due_observe, {"later": now + 60_000})
    assert store.run(health.waiting(store.keys)) == [Waiting("observe", 0, 0, 1), Waiting("reflect", 0, 0)]
    store.client.zadd(store.keys.due_observe, {"plain": now - 5_000, "urgent": now - HOUR_MS - 9_000})
    store.client.zadd(store.keys.due_reflect, {"plain": now - 5_000})
    found = store.run(health.waiting(store.keys))

    assert [(waiting.what, waiting.due, waiting.scopes) for waiting in found] == [("observe", 2, 3), ("reflect", 1, 1)]
    assert [waiting.longest for waiting in found] == pytest.approx([9_000, 5_000], abs=2_000)


def test_every_resource_is_told_of_and_one_that_cannot_be_read_as_broken(store):
    of = store.keys.of
    store.client.zadd(store.keys.resources, {"harold": 1, "ada": 2})
    store.client.set(of("harold").scope, "thread")
    store.client.rpush(of("harold").rejected, b"{}", b"{}")
    store.client.hset(of("harold").tokens, "*paused", 1)
    store.client.set(of("ada").rejected, "no list", ex=60)

    told = [
        Condition("ada", None, 0, paused=False, broken=True),
        Condition("harold", "thread", 2, paused=True),
        Condition("unknown", None, 0, paused=False),
    ]

    assert store.run(health.standings(store.keys)) == Standings(2, told)


def test_of_many_resources_those_are_looked_at_that_workers_looked_at_last(store):
    """Catches a doctor that reads a million memories, and one that passes somebody by where all could be read."""
    store.client.zadd(store.keys.resources, {name: at for at, name in enumerate(NAMES)})
    for most, looked in ((4, NAMES[2:]), (6, NAMES)):
        found = store.run(health.standings(store.keys, most))
        assert found.known == len(NAMES)
        assert [each.resource for each in found.conditions] == [*looked, "unknown"], most


def worker(name, queue="observe", concurrency=4):
    return Worker(name=name, host="h", pid=1, version="1", queues=(queue,), concurrency=concurrency)


def test_a_worker_is_there_from_its_first_word_to_its_last(store):
    soon = time.time() * 1000 + 20_000
    store.client.zadd(store.keys.workers, dict.fromkeys(["broken", "other", "silent"], soon))
    store.client.set(store.keys.worker("broken"), b"\xff", px=20_000)
    store.client.set(store.keys.worker("other"), b"[]", px=20_000)
    store.client.expire(store.keys.workers, 20)
    assert store.run(health.workers(store.keys)) == []  # none of these was written by a worker
    store.client.delete(store.keys.workers)
    store.client.zadd(store.keys.workers, {"dead": time.time() * 1000 - 1})
    for name in ("a", "b"):
        store.run(presence.here(store.keys, worker(name)))
    both = store.run(health.workers(store.keys))
    assert store.client.zrange(store.keys.workers, 0, -1) == [b"a", b"b"]  # who said nothing for long is taken off
    store.run(presence.gone(store.keys, "a"))

    assert [msgspec.structs.replace(each, skew_ms=0) for each in both] == [worker("a"), worker("b")]
    assert [each.name for each in store.run(health.workers(store.keys))] == ["b"]


def test_a_clock_that_goes_wrong_is_told_in_ms_with_its_sign(store, monkeypatch):
    for ahead in (-60, 60):
        monkeypatch.setattr(presence, "time", SimpleNamespace(time=lambda ahead=ahead: time.time() + ahead))
        clocks = store.run(presence.clocks())
        store.run(presence.here(store.keys, worker("a")))
        (said,) = store.run(health.workers(store.keys))
        assert clocks.skew == pytest.approx(1000 * ahead, abs=10_000)
        assert clocks.server == pytest.approx(time.time() * 1000, abs=20_000)
        assert said.skew_ms == pytest.approx(1000 * ahead, abs=10_000)


def test_a_tick_says_when_it_ran_and_how_often_it_should(store):
    sweep = Ticked(at=17, interval=60.0)
    store.run(presence.ticked(store.keys, "sweep", sweep))
    assert store.run(health.ticks(store.keys)) == dict.fromkeys(["observer", "reflector", "webhooks"]) | {
        "sweep": sweep
    }


def test_what_is_no_time_was_not_measured(store):
    """Catches one forged number with which no tick of the whole fleet hands anything out any more."""
    store.run(presence.lasted(store.keys, "observe|model-1", 2.5))
    for value in ("x", "", "nan", "inf", "-inf", "-1", "0", "1e13", b"\xff"):
        store.client.hset(store.keys.lasting, "observe|model-2", value)
        assert store.run(presence.lasting(store.keys)) == {"observe|model-1": 2.5}, value


FLEET = [worker(name, concurrency=32) for name in "ab"]
AT = 1_000_000_000


def ticked(due, was, seconds):
    return Ticked(at=AT, interval=10, due=due, since=AT - seconds * 1_000, was=was)


def test_more_workers_do_what_comes_beside_what_is_done():
    """64 tasks of 4 s do 16 a second; 20 a second come, so 80 tasks keep up, 3 workers; 2,400 that wait want 16 tasks more."""
    found = backlog("observe", ticked(2_400, 1_200, 300), FLEET, {"observe|m": 4.0, "reflect|m": 90.0})

    assert found == FleetBacklog(due=2_400, seconds=300, grows=4.0, more=1, soon=1, tasks=32)
    assert backlog("observe", ticked(24_000, 22_800, 300), FLEET, {"observe|m": 4.0}).soon == 6
    for workers in ([], [worker("x", queue="reflect")]):  # nobody serves the queue: workers of the usual size would do
        found = backlog("observe", ticked(6_400, 6_400, 60), workers, {})
        assert (found.more, found.soon, found.tasks) == (0, 1, 32)


def test_a_tick_keeps_the_time_since_which_the_fleet_is_behind():
    first = Ticked(at=AT, interval=10, due=100).behind(None)
    second = Ticked(at=AT + 10_000, interval=10, due=150).behind(first)

    assert (first.since, first.was) == (AT, 100)
    assert (second.since, second.was, second.due) == (AT, 100, 150)


def test_a_walk_goes_on_where_it_stopped(store):
    for at in (Progress(begun=5, cursor=2**63), Progress(begun=5, cursor=None)):
        store.run(rollout.keep(store.keys, "ab", at))
        assert store.run(rollout.progress(store.keys, "ab")) == at
    assert store.run(rollout.progress(store.keys, "cd")) is None  # of other settings
    for text in (b"nonsense", b"\xff", b"[]", b'{"begun": "x"}'):
        store.client.set(store.keys.rollout("ab"), text, ex=9)
        assert store.run(rollout.progress(store.keys, "ab")) is None, text
