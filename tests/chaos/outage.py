"""An outage of all workers, in which many small memories become due; and how long the broker's queues get meanwhile."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import redis

from chaos import plan
from chaos.journal import Journal
from chaos.plan import Member
from chaos.quiet import parts
from chaos.writers import LibraryWriter
from om_api import ObservationalMemory
from om_api.domain.errors import StoreError

_TOGETHER = 50
_TOKENS = 2_000  # of one message: enough to be observed at once
_EVERY_S = 0.1
_QUEUES = ("observe", "reflect", "maintenance")  # what beats send is there for every tick that no worker took


class LateWriter(LibraryWriter):
    """Says one long thing to each of `quota` memories that nobody spoke to before, as fast as it can."""

    def __init__(self, om: ObservationalMemory, journal: Journal, quota: int, dice: Any) -> None:
        super().__init__(om, plan.LATE, [], journal, dice, quota=quota, seconds=0.0)

    def _speak(self) -> None:
        first = self.composer.made
        members = [Member(f"{plan.LATE}-{n}", ("t-1",)) for n in range(first, min(first + _TOGETHER, self._quota))]
        batch = [self._compose(member) for member in members]
        for said in batch:
            said.fields["tokens"] = _TOKENS
        self._deliver(batch)


class Queues(threading.Thread):
    """Looks all the time how many tasks wait in the broker, until halted: `longest` is the most that were seen."""

    def __init__(self, waiting: Callable[[Sequence[str]], int]) -> None:
        super().__init__(name="queues", daemon=True)
        self._waiting = waiting
        self.halt = threading.Event()
        self.longest = self.looks = 0

    def run(self) -> None:
        while not self.halt.wait(_EVERY_S):
            try:
                waiting = self._waiting(_QUEUES)
            except (redis.RedisError, StoreError):
                continue
            self.looks += 1
            self.longest = max(self.longest, waiting)


def fill(writer: LateWriter, tend: Callable[[], None]) -> None:
    """Have it say all that it has to say, and the other processes tended meanwhile."""
    writer.start()
    while writer.is_alive():
        tend()
        writer.join(_EVERY_S)


def due(client: redis.Redis, prefix: str) -> int:
    """How many scopes are due to be observed now."""
    seconds, micros = client.time()
    now = seconds * 1000 + micros // 1000
    return sum(int(client.zcount(part, "-inf", now)) for part in parts(client, f"{prefix}:due:observe"))
