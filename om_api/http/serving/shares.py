"""What one key may have of a process at a time, so that the others find room; and its heavy work, off the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from itertools import chain
from typing import Any, TypeVar

from fastapi import HTTPException

from om_api.http.serving.limits import HEAVY_AT_ONCE, LARGE
from om_api.http.serving.problems import RETRY
from om_api.settings.sections.api_settings import ApiSettings

T = TypeVar("T")


class Lane:
    """What one key has in flight: requests, those worked on, bytes, streams; `heavy` is held by the one that computes.

    `reads_much` once the store's reply to one was large: the next ones ask the store one after the other.
    """

    def __init__(self, limits: ApiSettings) -> None:
        self.requests = self.bytes = self.streams = 0
        self.reads_much = False
        self.turns = asyncio.Semaphore(limits.turns_per_key)
        self.heavy = asyncio.Lock()


class Shares:
    """The lanes of one process, which has one for each key that asks for something just now."""

    def __init__(self, limits: ApiSettings) -> None:
        self.limits = limits
        self.lanes: dict[str, Lane] = {}
        self.threads = ThreadPoolExecutor(HEAVY_AT_ONCE, "heavy")

    def enter(self, key_id: str) -> "Share":
        """Count one more request of a key; raises HTTPException 429 where that is too many."""
        lane = self.lanes.get(key_id) or Lane(self.limits)
        if lane.requests >= self.limits.requests_per_key:
            raise refusal(f"{self.limits.requests_per_key} requests of this key are in flight")
        if lane.bytes >= self.limits.bytes_per_key:
            raise _too_many_bytes(self.limits)
        self.lanes[key_id] = lane
        lane.requests += 1
        return Share(self, key_id, lane)

    def leave(self, key_id: str, lane: Lane) -> None:
        """Count one less, and forget the lane after its last one."""
        lane.requests -= 1
        if not lane.requests:
            del self.lanes[key_id]

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(wait=False, cancel_futures=True)


class Share:
    """One request's part of its key's lane. `large`: what it reads or is sent takes long to make something of."""

    def __init__(self, shares: Shares, key_id: str, lane: Lane) -> None:
        self.lane, self.large = lane, False
        self._shares, self._key_id = shares, key_id
        self._bytes = 0
        self._computes = self._handled = False

    def large_by(self, size: int) -> bool:
        """Whether a reply of so many bytes is taken up in a thread; what is sent as it is found is not kept."""
        if self._handled:
            return size > LARGE
        if size > LARGE:
            self.lane.reads_much = True
            self.hold(size)
            self.large = True
        return self.large

    async def read(self) -> None:
        """Wait until the store may be asked."""
        if self.lane.reads_much:
            await self._compute()

    async def _compute(self) -> None:
        if not self._computes:
            await self.lane.heavy.acquire()
            self._computes = True

    def hold(self, size: int) -> None:
        """Count bytes until the end of the request; raises HTTPException 429 where they and others' are too many."""
        others = self.lane.bytes - self._bytes
        if others and self.lane.bytes + size > self._shares.limits.bytes_per_key:
            raise _too_many_bytes(self._shares.limits)
        self.lane.bytes += size
        self._bytes += size

    async def work(self, job: Callable[[], T]) -> T:
        """Do a job in a thread; of one key one request at a time, which goes first until it is handled."""
        await self._compute()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._shares.threads, copy_context().run, job)
        finally:
            if self._handled:
                self._let_go()

    def handled(self) -> None:
        """Let the key's next request compute; what is left of this one is sent as it is found."""
        self._handled = True
        self._let_go()

    def _let_go(self) -> None:
        if self._computes:
            self.lane.heavy.release()
        self._computes = False

    def close(self) -> None:
        """Give everything back."""
        self.handled()
        self.lane.bytes -= self._bytes
        self._shares.leave(self._key_id, self.lane)


SHARE: ContextVar[Share] = ContextVar("share")  # of the request that is being handled; none outside of one


def aside(reply: Any, job: Callable[[], T]) -> Awaitable[T] | None:
    """A job that takes up a reply of the store, to be awaited if it is done in a thread; None if it is small."""
    share = SHARE.get(None)
    return share.work(job) if share is not None and share.large_by(weight(reply)) else None


def weight(reply: Any) -> int:
    """The bytes of a reply. Thousands of members with their scores are one list for it: calls would cost more than they do."""
    if not isinstance(reply, list):
        return len(reply) if isinstance(reply, bytes) else 0
    kinds = {*map(type, reply)}
    if kinds == {list}:
        return weight([*chain.from_iterable(reply)])
    if list in kinds:
        return sum(map(weight, reply))
    return sum([len(item) for item in reply if type(item) is bytes])


def refusal(why: str) -> HTTPException:
    """What whoever has too much in flight is told."""
    return HTTPException(429, f"{why}: wait for an answer, and repeat", RETRY)


def _too_many_bytes(limits: ApiSettings) -> HTTPException:
    return refusal(f"bodies and answers of this key take the {limits.bytes_per_key:,} bytes that it may have in flight")
