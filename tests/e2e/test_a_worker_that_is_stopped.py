"""Workers that are told to stop: what they hold is finished or given back, and nobody waits for a lease."""

import signal
import threading

import pytest
import redis
from celery import Celery
from chaos import judging, quiet
from processes import BEAT, WORKER
from world import wait_until

from om_api.domain.errors import OMError
from om_api.domain.messages import Message

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


def _locks(house, name, what):
    return list(house.client.scan_iter(f"{house.prefix}:{{{name}}}:lock:{what}*", count=1000))


def _attempts(house, name):
    return [house.client.hget(key, "attempts") for key in house.client.scan_iter(f"{house.prefix}:{{{name}}}:chunk:*")]


def _told_to_stop(process, *signals):
    for number in signals:
        process.send_signal(number)
    return process.wait(_ENDED)


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
    house.say(2, "observed")
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
    assert (_locks(house, "observed", "chunk:"), _attempts(house, "observed")) == ([], [b"0"])


def _send(house, scope):
    """What a tick sends for a due scope."""
    app = Celery(broker=house.broker)
    app.send_task("om.observe", (scope, ""), queue="observe")
    app.close()


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
    """Two workers and a beat are stopped and started again, one after the other, while an agent talks on. The grace is shorter
    than models think, and each stop comes while a model is asked: three rounds, and more until a call was left in flight. Breaks
    when what is given back is lost or counted twice, and when a worker does not end by itself."""
    house = run(observer_model="echo-slow", message_threshold="1000", observation_threshold="2000", stop_grace="0.1s",
        commands=())  # fmt: skip
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
    assert (set(places), [(name, held) for name, held in places.items() if len(held) != 1]) == (writer.said, [])
    assert house.om.verify() == []
    assert _LEFT in house.log.read_bytes()
    assert b'"outcome": "failed"' not in house.log.read_bytes()
