"""Actors of a run with an archive: rounds of archiving all the time, and somebody who reads the past and erases of it."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import redis
from celery import Celery

from chaos.archives import RunArchive
from chaos.journal import Journal, Said
from chaos.plan import ERASED
from om_api import InvalidInputError, ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome
from om_api.store.memory.keys import Keys

_ROUND_S = 1.0
_LOOK_S = 0.2
_ERASES = 0.2  # of looks
_PATIENCE_S: Final = 60.0
_QUEUE: Final = "maintenance"
_NEITHER = "stands in neither"


class Rounds(threading.Thread):
    """Has everybody looked at for what may be archived each second, by a worker; of itself that is once a minute."""

    def __init__(self, client: redis.Redis, server: Any, prefix: str, names: Sequence[str]) -> None:
        super().__init__(name="rounds", daemon=True)
        self._client, self._names, keys = client, names, Keys(prefix)
        self._due, self._guard = keys.archivable, keys.tick("archive")
        self._app, self._waiting = Celery("chaos", broker=server.broker_url, set_as_current=False), server.waiting
        self.halt = threading.Event()

    def run(self) -> None:
        while not self.halt.wait(_ROUND_S):
            with suppress(Exception):  # the server is away: the next one comes
                self.now()

    def now(self) -> None:
        """One round, whenever a worker takes it."""
        self._client.zadd(self._due, dict.fromkeys(self._names, 0))
        self._client.delete(self._guard)
        if not self._waiting([_QUEUE]):
            self._app.send_task("om.archive", queue=_QUEUE, expires=2 * _ROUND_S, retry=False)


class Past(threading.Thread):
    """Recalls, reads histories, and erases messages one by one until halted; of an archive that is old it has `om verify` tell.

    `partial` counts answers that said they lack something, by what was the matter; `named` what verify named.
    """

    def __init__(self, om: ObservationalMemory, archive: RunArchive, journal: Journal, dice: random.Random) -> None:
        super().__init__(name="past", daemon=True)
        self._om, self._archive, self._journal, self._dice = om, archive, journal, dice
        self.halt = threading.Event()
        self.partial: Counter[str] = Counter()
        self.named = self.recalled = 0
        self._begun: set[str] = set()

    def run(self) -> None:
        while not self.halt.wait(_LOOK_S):
            try:
                self._look()
            except StoreError:
                continue
            except Exception as error:  # noqa: BLE001 - nothing but a StoreError may reach who reads
                self._journal.breach(f"{self.name} met {type(error).__name__}: {error}"[:300])

    def finish(self) -> None:
        """Repeat what was not answered, now that nothing is wrong."""
        until = time.monotonic() + _PATIENCE_S
        while (left := sorted(self._begun - self._journal.erased)) and time.monotonic() < until:
            with suppress(StoreError):
                self._erase(self._journal.said[left[0]])
        for name in left:
            self._journal.breach(f"could not be erased for {_PATIENCE_S:.0f} s", name)

    def _look(self) -> None:
        own = [said for said in list(self._journal.said.values()) if said.acknowledged_at]
        if not own:
            return
        self._read(own)
        erasable = [said for said in own if said.resource.startswith(ERASED) and said.name not in self._journal.erased]
        if erasable and self._dice.random() < _ERASES:
            self._erase(self._dice.choice(erasable))

    def _read(self, own: Sequence[Said]) -> None:
        """Somebody's past, as of now; of an old archive one of whom verify names something that it lacks, if there is any."""
        state = self._archive.state
        if state == "old":
            lacks = [breach.where for breach in self._om.verify() if _NEITHER in breach.what]
            self.named += len(lacks)
            own = [said for said in own if any(f"{{{said.resource}}}" in key for key in lacks)] or own
        said = self._dice.choice(own)
        answers: Iterable[Any] = (self._om.recall(said.name, said.resource), self._om.history(said.resource))
        self.recalled += 1
        if any(answer.partial for answer in answers):
            self.partial[state] += 1

    def _erase(self, said: Said) -> None:
        """Erase a message's mark wherever it stands; what was asked before and not answered may have been done."""
        repeated = said.name in self._begun
        self._begun.add(said.name)
        self._journal.note("erase", ids=[said.name])
        try:
            done = self._om.erase(said.resource, matching=f"[[{said.name}]]").outcome
        except InvalidInputError:
            done = Outcome.REST
        self._journal.note("erased", ids=[said.name], outcome=done)
        if done is not Outcome.CLEARED and not repeated:
            self._journal.breach("acknowledged, but there was nothing of it to erase", said.name)
        self._journal.erased.add(said.name)
