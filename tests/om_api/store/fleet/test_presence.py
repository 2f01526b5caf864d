"""What workers say of themselves: that they live, what their clocks say, when a tick ran; and that all of it is forgotten."""

import time
from types import SimpleNamespace

import msgspec
import pytest

from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Ticked, Worker


def worker(name):
    return Worker(name=name, host="h", pid=1, version="1", queues=("observe",), concurrency=4)


def test_a_worker_is_there_from_its_first_word_to_its_last(store):
    for name in ("a", "b"):
        store.run(presence.here(store.keys, worker(name)))
    both = store.run(health.workers(store.keys))
    store.run(presence.gone(store.keys, "a"))

    assert [msgspec.structs.replace(each, skew_ms=0) for each in both] == [worker("a"), worker("b")]
    assert [each.name for each in store.run(health.workers(store.keys))] == ["b"]


def test_whoever_said_nothing_for_long_is_taken_off_the_list_by_the_next_who_does(store):
    store.client.zadd(store.keys.workers, {"dead": time.time() * 1000 - 1})
    store.run(presence.here(store.keys, worker("alive")))

    assert store.client.zrange(store.keys.workers, 0, -1) == [b"alive"]


@pytest.mark.parametrize("ahead", [-5, 5])
def test_a_clock_that_goes_wrong_is_told_in_ms_with_its_sign(store, monkeypatch, ahead):
    monkeypatch.setattr(presence, "time", SimpleNamespace(time=lambda: time.time() + ahead))
    clocks = store.run(presence.clocks())
    store.run(presence.here(store.keys, worker("a")))
    (said,) = store.run(health.workers(store.keys))

    assert clocks.skew == pytest.approx(1000 * ahead, abs=500)
    assert clocks.server == pytest.approx(time.time() * 1000, abs=2_000)
    assert said.skew_ms == pytest.approx(1000 * ahead, abs=500)


def test_a_tick_says_when_it_ran_and_how_often_it_should(store):
    store.run(presence.ticked(store.keys, "sweep", Ticked(at=17, interval=60.0)))
    ticks = store.run(health.ticks(store.keys))

    assert ticks == {
        "observer": None,
        "reflector": None,
        "webhooks": None,
        "sweep": presence.Ticked(at=17, interval=60.0),
    }


def test_what_an_earlier_version_said_of_a_worker_is_read():
    text = b'{"name":"a","host":"h","pid":1,"version":"0"}'

    assert msgspec.json.decode(text, type=Worker) == Worker(name="a", host="h", pid=1, version="0")


@pytest.mark.parametrize("value", ["x", "", "nan", "inf", "-inf", "-1", "0", "1e13", b"\xff"])
def test_what_is_no_time_was_not_measured(store, value):
    """Catches one forged number with which no tick of the whole fleet hands anything out any more."""
    store.run(presence.lasted(store.keys, "observe|model-1", 2.5))
    store.client.hset(store.keys.lasting, "observe|model-2", value)

    assert store.run(presence.lasting(store.keys)) == {"observe|model-1": 2.5}
