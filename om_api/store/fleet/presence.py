"""The traces that workers leave: that a process lives, what its clock says, and when a tick ran last. All of them expire."""

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from om_api.domain.learned import learned
from om_api.store.driver.replies import as_hash, write
from om_api.store.driver.steps import Batch, Steps
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

LIVES_MS = due.LEASE_MS
LAYOUT = 1  # of the keys of memories: raise it when workers of the version before must not run at the same time
_TICKED_S = 86_400


@learned
class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """One worker process: where it runs, which version, the queues it serves, and its clock minus the server's in ms.

    `concurrency`: how many tasks it runs at a time. `settings`: the fingerprint of its settings. `layout`: the number of its
    storage layout. No secrets. A worker of an earlier version has none of these: 0, "", and no `queues`.
    """

    name: str
    host: str
    pid: int
    version: str
    skew_ms: int = 0
    queues: tuple[str, ...] = ()
    concurrency: int = 0
    settings: str = ""
    layout: int = 0


@learned
class Ticked(msgspec.Struct, frozen=True, kw_only=True):
    """When a tick ran last (server ms), and the interval (s) at which it should.

    Where more was `due` than the fleet had room for: `since` when (server ms) that is so, and how many there `was` then.
    """

    at: int
    interval: float
    due: int = 0
    since: int = 0
    was: int = 0

    def behind(self, before: "Ticked | None") -> "Ticked":
        """The same with the time since which the fleet has been behind, as the tick `before` saw it."""
        if before and before.since:
            return msgspec.structs.replace(self, since=before.since, was=before.was)
        return msgspec.structs.replace(self, since=self.at, was=self.due)


class Clocks(NamedTuple):
    """The server's time (Unix ms), and this process' clock minus it, uncertain by half a round trip."""

    server: int
    skew: int


def clocks() -> Steps[Clocks]:
    """Reach the server and compare clocks; raises StoreError when it cannot be reached."""
    before = time.time()
    server = yield from due.server_ms()
    return Clocks(server, round((before + time.time()) * 500) - server)


def here(keys: Keys, worker: Worker, lives_ms: int = LIVES_MS) -> Steps[None]:
    """Say that a worker process lives, for `lives_ms` from now on; who said so last longer ago is taken off the list."""
    now = yield from clocks()
    text = msgspec.json.encode(msgspec.structs.replace(worker, skew_ms=now.skew))
    yield from write(
        ("SET", keys.worker(worker.name), text, "PX", lives_ms),
        ("ZADD", keys.workers, now.server + lives_ms, worker.name),
        ("ZREMRANGEBYSCORE", keys.workers, "-inf", now.server),
        ("PEXPIRE", keys.workers, lives_ms),
        atomic=False,
    )


def gone(keys: Keys, name: str) -> Steps[None]:
    """Say that a worker process ends, so that nobody waits for it."""
    yield from write(("DEL", keys.worker(name)), ("ZREM", keys.workers, name), atomic=False)


def lasted(keys: Keys, name: str, seconds: float) -> Steps[None]:
    """Note how long tasks last, by `<queue>|<model>`."""
    yield from write(("HSET", keys.lasting, name, f"{seconds:.3f}"), ("EXPIRE", keys.lasting, _TICKED_S))


def lasting(keys: Keys) -> Batch[dict[str, float]]:
    """For how many seconds tasks last, by `<queue>|<model>`, as far as any were measured within a day.

    What is no time between nothing and a day was not measured, and is left out.
    """
    return as_hash("HGETALL", keys.lasting).then(_seconds)


def _seconds(said: Mapping[bytes, bytes]) -> dict[str, float]:
    read = {name.decode("utf-8", "replace"): _number(value) for name, value in said.items()}
    return {name: seconds for name, seconds in read.items() if 0 < seconds <= _TICKED_S}


def _number(value: bytes) -> float:
    """A number of seconds; nan for what is none, as somebody else may have written."""
    try:
        return float(value)
    except ValueError:
        return math.nan


def ticked(keys: Keys, name: str, now: Ticked) -> Steps[None]:
    """Note that a tick ran."""
    yield from write(("SET", keys.ticked(name), msgspec.json.encode(now), "EX", _TICKED_S))
