"""Holding a resource: while somebody changes what came back, or rids the archive of rows, nothing of it is archived.

Time 0: a worker wrote a row, and read it back. Time 1: somebody finds that Redis does not name the row, and discards it.
Time 2: the worker drops in Redis what it wrote. So who discards holds the resource: meanwhile nothing is dropped, and who began
before drops nothing after it.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from om_api.domain.errors import OMError, StoreError
from om_api.domain.values import new_id
from om_api.store.driver.replies import as_bytes, server_ms, write
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.memory.keys import ResourceKeys

T = TypeVar("T")
_HELD_S = 900  # by a holder who died
_PATIENCE_MS = 300_000  # who archives gives up earlier than what they saw of the lock can expire
_LAST = "last"


class LockSeen(NamedTuple):
    """What was seen of the lock by who begins to archive: who held it last, and until when (server ms) that says anything."""

    last: bytes
    until: int


def look(of: ResourceKeys) -> Batch[LockSeen]:
    """Begin to archive: to be asked before anything is written, and shown when it is dropped."""
    return batch(as_bytes("HGET", of.hold, _LAST), server_ms()).then(_seen)


def _seen(seen: tuple[bytes | None, int]) -> LockSeen:
    last, now = seen
    return LockSeen(last or b"", now + _PATIENCE_MS)


def held(of: ResourceKeys, work: Callable[[str], Steps[T]]) -> Steps[T]:
    """Do something while nothing of a resource is archived but by the holder, whose name `work` is told."""
    holder, now = new_id(), (yield from server_ms())
    yield from _noted(of, ("HSET", of.hold, holder, now + _HELD_S * 1_000), holder)
    try:
        done = yield from work(holder)
    except (OMError, *UNREADABLE):
        with suppress(StoreError):  # it expires
            yield from _released(of, holder)
        raise
    yield from _released(of, holder)
    return done


def _released(of: ResourceKeys, holder: str) -> Steps[None]:
    yield from _noted(of, ("HDEL", of.hold, holder), new_id())


def _noted(of: ResourceKeys, change: tuple[Any, ...], last: str) -> Steps[None]:
    yield from write(change, ("HSET", of.hold, _LAST, last), ("EXPIRE", of.hold, _HELD_S))
