"""Workers that are told to stop: what they hold is finished or given back, and nobody waits for a lease."""

import contextlib
import signal
import threading
import time

import pytest
import redis
from celery import Celery
from chaos import judging, quiet
from processes import BEAT, WORKER
from world import World, wait_until

from om_api.domain.errors import OMError
from om_api.domain.messages import Message
from om_api.store.memory import due

_SLOW = "{delay: 600}"  # longer than the test: a worker that waits for it never ends
_YAML = """
observational_memory:
  {tokenizer: estimate, model: quick, message_threshold: 1000, observation_threshold: 400, min_recent_messages: 0}
models:
  quick: {provider: scripted}
  slow: {provider: scripted}
"""
_FILES = {
    "observational-memory.yaml": _YAML,
    "agents/observed/memory.yaml": "observational_memory: {observer_model: slow, model: null, reflector_model: quick}",
    "agents/reflected/memory.yaml": "observational_memory: {observer_model: quick, model: null, reflector_model: slow}",
}
_LEFT = b'"left": true'
_ENDED = 20  # seconds; leases and locks take 30


def _say(house, name, many):
    ids = [f"{name}-{n}" for n in range(many)]
    house.om.add_messages(
        [Message(role="user", content=one, id=one, thread_id="t-1", resource_id=name, tokens=100) for one in ids]
    )
    return ids


def _locks(house, name, what):
    return list(house.client.scan_iter(f"{house.prefix}:{{{name}}}:lock:{what}*", count=1000))


def _due_now(house, index, name):
    services = World(house.client, house.prefix).services
    return house.client.zscore(f"{house.prefix}:due:{index}", name) <= services.run(due.server_ms())


def _attempts(house, name):
    return [house.client.hget(key, "attempts") for key in house.client.scan_iter(f"{house.prefix}:{{{name}}}:chunk:*")]


def _told_to_stop(process, *signals):
    for number in signals:
        process.send_signal(number)
    return process.wait(_ENDED)


@pytest.mark.timeout(120)
def test_what_a_worker_held_that_was_told_to_stop_is_done_by_the_next_one_and_nothing_twice(run):
    """Models think longer than anybody waits: an observation and a reflection are given back when the grace is over.

    Breaks when a lock stays (the next worker would wait for its end), when an attempt stays counted, and when the process
    waits for its models, as Celery does.
    """
    house = run(_FILES, commands=())
    ticks = house.spawn(*WORKER, "-n", "ticks@%h", "-Q", "ticks,maintenance")
    beat = house.spawn(*BEAT)
    slow = {"OM_MODELS__SLOW__OPTIONS": _SLOW, "OM_STOP_GRACE": "0.5s"}
    doomed = house.spawn(*WORKER, "-n", "doomed@%h", "-Q", "observe,reflect", **slow)
    said = {"observed": _say(house, "observed", 2), "reflected": _say(house, "reflected", 12)}
    house.om.force_observe(None, "reflected")
    wait_until(lambda: house.om.observations("reflected") and _locks(house, "observed", "chunk:"), "the model", 60)
    house.om.force_reflect("reflected")
    wait_until(lambda: house.log.read_bytes().count(b"reflect") and _thinks(house, "reflected"), "the reflector", 60)

    assert (_told_to_stop(ticks, signal.SIGTERM), _told_to_stop(beat, signal.SIGTERM)) == (0, 0)
    assert _told_to_stop(doomed, signal.SIGTERM) == 0
    assert (_locks(house, "observed", "chunk:"), _locks(house, "reflected", "reflect")) == ([], [])
    assert (_due_now(house, "observe", "observed"), _due_now(house, "reflect", "reflected")) == (True, True)
    assert _attempts(house, "observed") == [b"0"]
    assert house.client.zcard(f"{house.prefix}:workers") == 0

    house.spawn(*WORKER)
    house.spawn(*BEAT)
    wait_until(lambda: house.om.generations("reflected"), "the reflection, by the next worker", 60)
    house.om.force_observe(None, "observed", wait=60)
    for name, ids in said.items():
        text = house.om.get_context("t-1", name).text
        assert [one for one in ids if text.count(f"[{one}]") != 1] == []
    assert len(house.om.generations("reflected")) == 1
    assert house.om.verify() == []


def _thinks(house, name):
    """Whether a request to reflect was taken up and is not answered: its lock is held, by one owner for a while."""
    lock = f"{house.prefix}:{{{name}}}:lock:reflect"
    owner = house.client.get(lock)
    return owner is not None and all(house.client.get(lock) == owner for _ in range(200))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("signals", [[signal.SIGTERM] * 2, [signal.SIGQUIT], [signal.SIGINT, signal.SIGINT]])
def test_tasks_that_wait_in_a_stopping_worker_go_back_at_once_and_a_second_signal_waits_for_no_model(run, signals):
    """One thread thinks for ten minutes and would have as much grace; the next task waits behind it in the same process."""
    house = run(_FILES, commands=())
    ticks = house.spawn(*WORKER, "-n", "ticks@%h", "-Q", "ticks,maintenance")
    house.spawn(*BEAT)
    slow = {"OM_MODELS__SLOW__OPTIONS": _SLOW, "OM_STOP_GRACE": "1h"}
    words = ("worker", "-c", "1", "--without-gossip", "--without-mingle", "-n", "doomed@%h", "-Q", "observe,reflect")
    doomed = house.spawn(*words, **slow)
    _say(house, "observed", 2)
    wait_until(lambda: _locks(house, "observed", "chunk:"), "the model to be asked", 60)
    _told_to_stop(ticks, signal.SIGTERM)
    _send(house, "reflected")
    with redis.Redis.from_url(house.broker) as broker:
        wait_until(lambda: broker.hlen("unacked") == 1, "a task that waits", 60)
        assert broker.llen("observe") == 0
        doomed.send_signal(signals[0])
        wait_until(lambda: broker.llen("observe") == 1, "the task that waited")
    if len(signals) > 1:
        assert doomed.poll() is None
        doomed.send_signal(signals[1])

    assert doomed.wait(_ENDED) in {0, 1}
    assert _locks(house, "observed", "chunk:") == []
    assert _attempts(house, "observed") == [b"0"]


def _send(house, scope):
    """What a tick sends for a due scope."""
    app = Celery(broker=house.broker)
    app.send_task("om.observe", (scope, ""), queue="observe")
    app.close()


@pytest.mark.timeout(120)
def test_flower_hears_how_the_last_tasks_of_a_worker_ended(run):
    """Breaks when events wait for the worker's loop, which is over by then: Flower would show them as started for ever."""
    house = run(_FILES, commands=())
    ticks = house.spawn(*WORKER, "-n", "ticks@%h", "-Q", "ticks,maintenance")
    house.spawn(*BEAT)
    slow = {"OM_MODELS__SLOW__OPTIONS": "{delay: 3}", "OM_STOP_GRACE": "30s"}
    doomed = house.spawn(*WORKER, "-n", "doomed@%h", "-Q", "observe,reflect", **slow)
    heard = _Listener(house.broker)
    heard.start()
    wait_until(heard.listens.is_set, "somebody who listens")
    _say(house, "observed", 2)
    wait_until(lambda: _attempts(house, "observed") == [b"1"], "an attempt at the chunk", 60)
    time.sleep(0.5)  # then the model is being asked

    assert _told_to_stop(doomed, signal.SIGTERM) == 0
    wait_until(lambda: heard.ended, "the end of the task that was asking then")
    assert heard.ended == ["'buffered'"]
    heard.halt.set()
    heard.join(10)
    _told_to_stop(ticks, signal.SIGTERM)


class _Listener(threading.Thread):
    """Hears what workers tell Flower until it is halted: `ended` are the results of looks."""

    def __init__(self, broker):
        super().__init__(daemon=True)
        self._broker, self.halt, self.listens, self.ended = broker, threading.Event(), threading.Event(), []

    def run(self):
        with Celery(broker=self._broker, set_as_current=False) as app, app.connection_for_read() as broker:
            hears = {"task-succeeded": lambda event: self.ended.append(event["result"])}
            with app.events.Receiver(broker, handlers=hears).consumer_context() as (connection, *_):
                self.listens.set()
                for _ in iter(self.halt.is_set, True):
                    with contextlib.suppress(TimeoutError):
                        connection.drain_events(timeout=0.2)


class _Writer(threading.Thread):
    """Says something new to one of six agents ten times a second until it is halted; `said` is what was acknowledged."""

    def __init__(self, om):
        super().__init__(daemon=True)
        self._om, self.halt = om, threading.Event()
        self.said, self.failed = set(), []

    def run(self):
        while not self.halt.wait(0.1):
            name = f"rolling-{len(self.said)}"
            agent = f"agent-{len(self.said) % 6}"
            try:
                self._om.add_message(
                    Message(role="user", content=name, id=name, thread_id="t-1", resource_id=agent, tokens=100)
                )
            except OMError as error:
                self.failed.append(error)
            else:
                self.said.add(name)


@pytest.mark.timeout(400)
def test_a_rolling_restart_under_load_loses_nothing_and_does_nothing_twice(run):
    """Two workers and a beat are stopped and started again, one after the other, while an agent talks on.

    The grace is shorter than models think, and each stop comes while a model is asked: three rounds, and more until a call was
    left in flight. Breaks when what is given back is lost or counted twice, and when a worker does not end by itself.
    """
    house = run(
        observer_model="echo-slow",
        message_threshold="1000",
        observation_threshold="2000",
        stop_grace="0.1s",
        commands=(),
    )
    words = {"one": (*WORKER, "-n", "one@%h"), "two": (*WORKER, "-n", "two@%h"), "beat": BEAT}
    running = {name: house.spawn(*command) for name, command in words.items()}
    writer = _Writer(house.om)
    writer.start()
    ended = []
    while len(ended) < 9 or (_LEFT not in house.log.read_bytes() and len(ended) < 36):
        for name, command in words.items():
            wait_until(lambda: list(house.client.scan_iter(f"{house.prefix}:*:lock:chunk:*", 1000)), "a model", 60)
            ended.append(_told_to_stop(running[name], signal.SIGTERM))
            running[name] = house.spawn(*command)
    writer.halt.set()
    writer.join(10)

    assert (set(ended), writer.failed) == ({0}, [])
    assert quiet.wait_for_quiet(house.client, house.prefix, lambda: None, 90)[1] == ""
    for process in running.values():
        _told_to_stop(process, signal.SIGTERM)
    places = judging.look(house.client, house.prefix).places
    assert set(places) == writer.said
    assert [(name, held) for name, held in places.items() if len(held) != 1] == []
    assert house.om.verify() == []
    assert _LEFT in house.log.read_bytes()
    assert b'"outcome": "failed"' not in house.log.read_bytes()
