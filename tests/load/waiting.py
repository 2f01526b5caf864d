"""Small agents beside noisy ones, who have more to do than workers can: how long each waits until what it said is observed.

One noisy resource has a memory for each of its many threads, of a quick model; the agents of a glob have one that takes longer
than a tick. Whatever was observed of them is followed by as much.
"""

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import NamedTuple

import redis
from chaos.house import PREFIX, House
from model_server import ModelServer

from load.plan import QUICK_S, SLOW_S
from load.seen import Waits
from om_api import Message, ObservationalMemory
from om_api.domain.errors import StoreError

_CHUNK = 1_000  # tokens
_AHEAD = 2  # messages of each that are there before any of them is observed
_EVERY_S, _PAUSE_S, _POLL_S = 0.5, (0.5, 2.0), 0.05
_HEAD_S, _LATE_S, _PATIENCE_S = 5.0, 60.0, 5.0
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


class Models(NamedTuple):
    """The servers of both models, that never fail."""

    quick: ModelServer
    slow: ModelServer

    @property
    def urls(self) -> dict[str, str]:
        """Where each is, by its name."""
        return {name: server.url for name, server in self._asdict().items()}


def models(held: ExitStack) -> Models:
    """Start both."""
    return Models(*(held.enter_context(ModelServer(delay=seconds)) for seconds in (QUICK_S, SLOW_S)))


class Crowd:
    """Everybody, noisy and small."""

    def __init__(self, house: House, served: Models, waits: Waits) -> None:
        self._om, outside = house.client(_PATIENCE_S), house.outside(_PATIENCE_S)
        self._noise = [Noise(self._om, _NOISY, served.quick), Noise(self._om, _SLOW, served.slow)]
        self._small = [Small(self._om, name, outside, waits) for name in _SMALL]

    def play(self, seconds: float) -> None:
        """Have them talk for so long, the noisy ones until the last of the others was heard; nothing of it is left."""
        for noise in self._noise:
            noise.start()
        time.sleep(_HEAD_S)
        for small in self._small:
            small.start()
        time.sleep(seconds)
        for small in self._small:
            small.halted.set()
        for small in self._small:
            small.join(2 * _LATE_S)
        for noise in self._noise:
            noise.halted.set()
            noise.join(2 * _PATIENCE_S)
        for name in {*_SMALL, *(resource for resource, _ in (*_NOISY, *_SLOW))}:
            self._om.clear(name)


class Noise(threading.Thread):
    """Says a chunk's worth in one place after the other: two in each, and then as many as were observed."""

    def __init__(self, om: ObservationalMemory, places: Sequence[tuple[str, str]], served: ModelServer) -> None:
        super().__init__(name=f"noise of {places[0][0]}", daemon=True)
        self._om, self._places, self._served = om, places, served
        self.halted = threading.Event()

    def run(self) -> None:
        said = 0
        while not self.halted.wait(_EVERY_S):
            until = _AHEAD * len(self._places) + len(self._served.calls)
            with suppress(StoreError):  # said again, with the same ids
                self._om.add_messages(self._compose(said, until))
                said = until

    def _compose(self, start: int, stop: int) -> Iterator[Message]:
        for n in range(start, stop):
            resource, thread = self._places[n % len(self._places)]
            yield _message(resource, thread, n)


class Small(threading.Thread):
    """Says a chunk's worth now and then, and notes how long that is not observed, and how many others were due."""

    def __init__(self, om: ObservationalMemory, name: str, outside: redis.Redis, waits: Waits) -> None:
        super().__init__(name=name, daemon=True)
        self._om, self._outside, self._waits = om, outside, waits
        self.halted = threading.Event()

    def run(self) -> None:
        said = 0
        while not self.halted.wait(random.uniform(*_PAUSE_S)):
            due, began, said = self._due(), time.monotonic(), said + 1
            self._until_observed(said, began + _LATE_S)
            self._waits.note(time.monotonic() - began, due)

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
