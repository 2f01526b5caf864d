"""Whoever owns the memories: clears some and moves some to the other scope while everybody talks and works."""

import threading
import time
from contextlib import suppress

from chaos.journal import Journal
from chaos.plan import Member
from om_api import ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome

_FLIGHT_S = 20.0
_PAUSE_S = 0.1


class Owner(threading.Thread):
    """Does one member's fate at a moment of the run, while a chunk of it is being observed, until it is done or halted.

    `done` says that it was, `in_flight` that a chunk was unready when it began. Its client waits longer than any pause
    of the server: a clear that was given up could be carried out afterwards.
    """

    def __init__(self, om: ObservationalMemory, member: Member, journal: Journal, *, at: float) -> None:
        super().__init__(name=f"owner of {member.name}", daemon=True)
        self._om, self._member, self._journal = om, member, journal
        self._at = at
        self.halt = threading.Event()
        self.done = self.in_flight = False
        self._asked = False

    @property
    def what(self) -> str:
        return "clear" if self._member.fate == "clear" else "migration"

    def run(self) -> None:
        if self.halt.wait(self._at):
            return
        self._await_flight()
        number = self._journal.opens(self.what, self._member.name)
        try:
            self._persist()
        except Exception as error:  # noqa: BLE001 - nothing but a StoreError may reach an owner
            self._journal.breach(f"{self.name} met {type(error).__name__}: {error}"[:300])
        self._journal.closes(number)

    def _await_flight(self) -> None:
        until = time.monotonic() + _FLIGHT_S
        while not self.in_flight and time.monotonic() < until and not self.halt.wait(0.02):
            with suppress(StoreError):
                stats = self._om.stats(self._member.name)
                self.in_flight = stats.chunks > stats.ready_chunks

    def _persist(self) -> None:
        while not self.done and not self.halt.is_set():
            self.done = self._do()
            if not self.done:
                self.halt.wait(_PAUSE_S)

    def _do(self) -> bool:
        resource, fate = self._member.name, self._member.fate
        repeated, self._asked = self._asked, True
        try:
            if fate == "clear":
                return self._om.clear(resource).outcome is Outcome.CLEARED
            outcome = self._om.migrate_scope(resource, fate)
        except StoreError as error:
            self._journal.note("owner refused", resource=resource, why=str(error)[:200])
            return False
        # the reply of a move that was made may have been lost: the next one finds nothing to move
        return outcome is Outcome.ACTIVATED or (repeated and outcome is Outcome.REST)
