"""Keeping leases alive: one thread a process renews every lock and claim that is held while a model thinks, while there are any.

It also says that the process lives, from when it is ready to work until it ends.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import structlog

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection
from om_api.store.driver.locks import Lease
from om_api.store.driver.partitions import PartedIndex
from om_api.store.memory import due
from om_api.store.memory.due import Claim
from om_workers.process.presence import Presence

T = TypeVar("T")
LEASE_S = due.LEASE_MS / 1000
_BEATS_A_LEASE = 3
_LAST_WORD_S = 1.0
_log = structlog.get_logger("om_workers")


class HeldClaim:
    """A claim on lease; `claim` is the one in force, None once it was lost."""

    def __init__(self, index: PartedIndex, claim: Claim) -> None:
        self.index = index
        self.claim: Claim | None = claim


class Heartbeat:
    """Renews leases until their work ends. A lease that is lost is not fought for: scripts keep truth without it."""

    def __init__(self, connection: Connection, lease_s: float = LEASE_S, presence: Presence | None = None) -> None:
        self._connection = connection
        self._lease_s = lease_s
        self._presence = presence
        self._present = False
        self._keep: Callable[[], None] | None = None
        self._locks: set[Lease] = set()
        self._claims: set[HeldClaim] = set()
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, keep: Callable[[], None] | None = None) -> None:
        """Say from now on that this process is ready to work; returns at once, even when the store is away.

        `keep` renews what else the process holds, at every beat.
        """
        with self._guard:
            self._present, self._keep = True, keep
            self._start()

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Try a lock and keep it while the block runs; False when someone else has it. Never waits."""
        lock = Lease(self._connection, name, self._lease_s)
        if not lock.acquire():
            yield False
            return
        try:
            with self._kept(self._locks, lock):
                yield True
        finally:
            if not lock.release():
                _log.info("lock_was_lost", lock=name)

    @contextmanager
    def lease(self, index: PartedIndex, claim: Claim | None) -> Iterator[HeldClaim | None]:
        """Keep a due scope on lease while the block runs."""
        if claim is None:
            yield None
            return
        held = HeldClaim(index, claim)
        with self._kept(self._claims, held):
            yield held

    @contextmanager
    def _kept(self, kept: set[T], what: T) -> Iterator[None]:
        try:
            with self._guard:
                kept.add(what)
                self._start()
            yield
        finally:
            with self._guard:
                kept.discard(what)

    def stop(self) -> None:
        """End the thread, and say that this process is no longer there; leases run out by themselves."""
        self._wake.set()
        with self._guard:
            thread = self._thread
        if thread is not None:
            thread.join(_LAST_WORD_S)  # a beat under way would bring the word back
        if self._presence and self._present:
            self._present = False
            self._presence.end()

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._beat, name="om-heartbeat", daemon=True)
            thread.start()  # may fail: then none is there
            self._thread = thread

    def _beat(self) -> None:
        while True:
            # The thread is the only one: whatever goes wrong with one beat, the next must come.
            try:
                self._renew()
            except Exception:  # noqa: BLE001
                _log.exception("heartbeat_failed")
            if self._wake.wait(self._lease_s / _BEATS_A_LEASE) or self._rests():
                return

    def _rests(self) -> bool:
        """Whether there is nothing to renew: the thread ends then, and another one begins when there is."""
        with self._guard:
            rests = not (self._present or self._locks or self._claims)
            if rests:
                self._thread = None
            return rests

    def _renew(self) -> None:
        if self._presence and self._present:
            self._presence.renew(self._lease_s)
        with self._guard:
            locks, claims = list(self._locks), list(self._claims)
        for lock in locks:
            if not lock.renew() and lock in self._locks:  # else its work ended while we were about to renew it
                _log.info("lock_not_renewed", lock=lock.name)
        for held in claims:
            self._renew_claim(held)
        if self._keep:
            with suppress(StoreError):
                self._keep()

    def _renew_claim(self, held: HeldClaim) -> None:
        claim = held.claim
        if claim is None:
            return
        try:
            held.claim = self._connection.run(due.renew(held.index, claim, round(self._lease_s * 1000)))
        except StoreError as error:
            _log.info("lease_not_renewed", scope=claim.scope, error=str(error)[:200])
