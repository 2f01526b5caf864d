"""A run with an archive: its actors, and what must be found afterwards.

Rounds of archiving come all the time, and somebody reads the past and erases of it. In the end each message is found once, by
its own words and in exports, and what was erased is found nowhere.
"""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import redis
from celery import Celery
from world import contents

from chaos.actors import Actor
from chaos.archives import RunArchive
from chaos.house import PREFIX
from chaos.journal import MARK, Journal, Said
from chaos.plan import ERASED
from om_api import InvalidInputError, ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome
from om_api.store.memory.keys import Keys

_ERASES = 0.2  # of looks
_PATIENCE_S: Final = 60.0
_QUEUE: Final = "maintenance"
_NEITHER = "stands in neither"
_RECALLED = 300  # messages that are looked for one by one
_RAISED = re.compile(r"Task om\.archive\[\S+ raised .*|archive_failed.*(?:Traceback|InvalidInput).*")


class Rounds(Actor):
    """Has everybody looked at for what may be archived each second, by a worker; of itself that is once a minute."""

    every_s = 1.0

    def __init__(self, client: redis.Redis, server: Any, names: Sequence[str], journal: Journal) -> None:
        super().__init__("rounds", journal)
        self._client, self._names, self._keys = client, names, Keys(PREFIX)
        self._app, self._waiting = Celery("chaos", broker=server.broker_url, set_as_current=False), server.waiting

    def _act(self) -> None:
        with suppress(Exception):  # the server is away: the next one comes
            self._client.zadd(self._keys.archivable, dict.fromkeys(self._names, 0))
            self._client.delete(self._keys.tick("archive"))
            if not self._waiting([_QUEUE]):
                self._app.send_task("om.archive", queue=_QUEUE, expires=2 * self.every_s, retry=False)


class Past(Actor):
    """Recalls, reads histories, and erases messages one by one; of an archive that is old it has `om verify` tell.

    `partial` counts answers that said they lack something, by what was the matter; `named` what verify named.
    """

    every_s = 0.2

    def __init__(self, om: ObservationalMemory, archive: RunArchive, journal: Journal, dice: random.Random) -> None:
        super().__init__("past", journal)
        self._om, self._archive, self._dice = om, archive, dice
        self.partial: Counter[str] = Counter()
        self.named = self.recalled = 0
        self._begun: set[str] = set()

    def finish(self) -> None:
        """Repeat what was not answered, now that nothing is wrong."""
        until = time.monotonic() + _PATIENCE_S
        while (left := sorted(self._begun - self._journal.erased)) and time.monotonic() < until:
            with suppress(StoreError):
                self._erase(self._journal.said[left[0]])
        for name in left:
            self._journal.breach(f"could not be erased for {_PATIENCE_S:.0f} s", name)

    def _act(self) -> None:
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
        found, read = self._om.recall(said.name, said.resource), self._om.history(said.resource)
        self.recalled += 1
        self.partial[state] += bool(found.partial or read.partial)

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


def wrong(om: ObservationalMemory, journal: Journal, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is not exactly once in the exports of all, and what is not found once by its own words, of some messages."""
    exported = Counter[str]()
    for name in names:
        export = b"".join(om.export_memory(name))
        for line in map(json.loads, export.splitlines()):
            if isinstance(line.get("message"), str):
                exported.update(MARK.findall(json.loads(line["message"])["content"])[:1])
        if name.startswith(ERASED):
            marks = set(MARK.findall(export.decode()))
            yield from ((each, "erased, and exported") for each in marks & journal.erased)
    there = [said for said in journal.said.values() if said.resource in names and said.name not in journal.erased]
    for said in there:
        least = bool(said.acknowledged_at) and not journal.cleared(said)
        if not least <= exported[said.name] <= 1:
            yield said.name, f"exported {exported[said.name]} times"
    sure = sorted((said.name, said.resource) for said in there if said.acknowledged_at and not journal.cleared(said))
    for name, resource in random.Random(1).sample(sure, min(_RECALLED, len(sure))):
        found = om.recall(f'"{name}"', resource, limit=50)
        times = sum(f"[[{name}]]" in hit.text for hit in found.hits if hit.kind == "message")
        if times != 1 or found.partial:
            yield name, f"recalled {times} times {found.partial}"


def remains(client: redis.Redis, archive: RunArchive, journal: Journal, folder: Path) -> Iterator[tuple[str, str]]:
    """What was erased and stands in any key or row; and what rounds of archiving raised: they tell what is wrong and go on."""
    for pattern in (f"{PREFIX}:{{erased-*", f"{PREFIX}:[^{{]*"):
        for key, held in contents(client, pattern).items():
            yield from ((name, f"erased, and in {key!r}") for name in set(MARK.findall(repr(held))) & journal.erased)
    for resource, row, revision, body in archive.rows():
        for name in set(MARK.findall(body)) & journal.erased:
            yield name, f"erased, and in the row {row} of {resource}, revision {revision}"
    for log in sorted(folder.glob("worker-*.log")):
        yield from (("", found[0][:300]) for found in _RAISED.finditer(log.read_text()))
