"""Small agents beside noisy ones, who have more to do than workers can: how long each waits until what it said is observed.

One noisy resource has a memory for each of its many threads, of a quick model; the agents of a glob have one that takes longer
than a tick. Whatever was observed of them is followed by as much.
"""

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

import redis
from chaos.actors import Actor
from chaos.house import PREFIX, House
from chaos.journal import Journal, Thread
from model_server import ModelServer

from load.plan import QUICK_S, SLOW_S
from load.seen import Tally
from om_api import Message, ObservationalMemory
from om_api.domain.errors import StoreError

_CHUNK = 1_000  # tokens
_AHEAD = 2  # messages of each that are there before any of them is observed
_PAUSE_S, _POLL_S = (0.5, 2.0), 0.05
_HEAD_S, _LATE_S = 5.0, 60.0
_AGENT = f"""
observational_memory:
  scope: {{scope}}
  message_threshold: 10000000  # nothing is activated or reflected: a message is a chunk, and a chunk is a call
  buffer_tokens: {_CHUNK}
  observer_model: {{model}}
  observer: {{{{timeout: 20s}}}}
"""
AGENTS = {
    "noisy": _AGENT.format(scope="thread", model="quick"),
    "slow-*": _AGENT.format(scope="resource", model="slow"),
    "small-*": _AGENT.format(scope="resource", model="quick"),
}
_NOISY = [("noisy", f"t-{n}") for n in range(200)]
_SLOW = [(f"slow-{n}", "t") for n in range(20)]
_SMALL = [f"small-{n}" for n in range(6)]


def models(held: ExitStack) -> dict[str, ModelServer]:
    """Start the servers of both models, that never fail."""
    delays = {"quick": QUICK_S, "slow": SLOW_S}
    return {name: held.enter_context(ModelServer(delay=seconds)) for name, seconds in delays.items()}


def play(house: House, served: Mapping[str, ModelServer], tally: Tally, journal: Journal, seconds: float) -> None:
    """Have everybody talk for so long, the noisy ones until the last of the others was heard; nothing of it is left."""
    om, outside = house.client(5), house.outside(5)
    noisy = [Noise(om, _NOISY, served["quick"], journal), Noise(om, _SLOW, served["slow"], journal)]
    small = [Small(om, name, outside, tally, journal) for name in _SMALL]
    for noise in noisy:
        noise.start()
    time.sleep(_HEAD_S)
    for each in small:
        each.start()
    time.sleep(seconds)
    for talkers in (small, noisy):
        for talker in talkers:
            talker.halt.set()
        for talker in talkers:
            talker.join(2 * _LATE_S)
    for name in {*_SMALL, *(resource for resource, _ in (*_NOISY, *_SLOW))}:
        om.clear(name)


class Noise(Actor):
    """Says a chunk's worth in one place after the other: two in each, and then as many as were observed."""

    every_s = 0.5

    def __init__(
        self, om: ObservationalMemory, places: Sequence[Thread], served: ModelServer, journal: Journal
    ) -> None:
        super().__init__(f"noise of {places[0][0]}", journal)
        self._om, self._places, self._served = om, places, served
        self._said = 0

    def _act(self) -> None:
        until = _AHEAD * len(self._places) + len(self._served.calls)
        # what fails is said again, with the same ids
        self._om.add_messages(_message(*self._places[n % len(self._places)], n) for n in range(self._said, until))
        self._said = until


class Small(Actor):
    """Says a chunk's worth now and then, and notes how long that is not observed, and how many others were due."""

    def __init__(
        self, om: ObservationalMemory, name: str, outside: redis.Redis, tally: Tally, journal: Journal
    ) -> None:
        super().__init__(name, journal)
        self._om, self._outside, self._tally = om, outside, tally
        self._said = 0

    def _act(self) -> None:
        if self.halt.wait(random.uniform(*_PAUSE_S)):
            return
        due, began = self._due(), time.monotonic()
        self._said += 1
        self._until_observed(self._said, began + _LATE_S)
        self._tally.waited.append(time.monotonic() - began)
        self._tally.due.append(due)

    def _due(self) -> int:
        while True:
            with suppress(redis.RedisError):
                return int(self._outside.zcount(f"{PREFIX}:due:observe", "-inf", time.time() * 1_000))
            time.sleep(_POLL_S)

    def _until_observed(self, n: int, late: float) -> None:
        """Say the n-th thing, with the same id until that is answered, and wait until it is observed, or it is late."""
        ready, answered = 0, False
        while ready < n and time.monotonic() < late:
            with suppress(StoreError):
                answered = answered or bool(self._om.add_message(_message(self.name, "t", n)))
                ready = self._om.stats(self.name).ready_chunks
            time.sleep(_POLL_S)


def _message(resource: str, thread: str, n: int) -> Message:
    return Message(resource_id=resource, thread_id=thread, id=f"{thread}-{n}", role="user", content="x", tokens=_CHUNK)
