"""Archiving: what is old enough leaves Redis for the archive, some hundred things at a time, and what is too old leaves that."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import structlog

from om_api.archive.entries import NotArchivableError
from om_api.domain.errors import ArchiveError
from om_api.domain.values import Scope
from om_api.store.archiving import archivable
from om_api.store.archiving.candidates import DueItems, Movable, past
from om_api.store.archiving.comparing import tidy
from om_api.store.archiving.moving import Planned, move
from om_api.store.driver.steps import FromArchive
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.memory import clear, due, reading
from om_workers.work.services import Services
from om_workers.work.unreadable import Isolated

_RESOURCES = 50  # looked at together
_AT_ONCE = 100  # things in one transaction
_TIDIED = 50  # resources that are compared in one round
_THREADS = 3  # one computes while the others wait for Redis or SQL
_NOBODY = DueItems([], None)
_PAUSE_MS = 60_000  # between two looks at what cannot be archived
_CHECK: FromArchive[None] = FromArchive(lambda archive: archive.check())
_PREPARE: FromArchive[None] = FromArchive(lambda archive: archive.prepare())
_log = structlog.get_logger("om_workers")


class Archived(NamedTuple):
    """What a round did: things `archived`, and `expired`; rows that went, `unnamed` by Redis; resources that `failed`."""

    archived: int = 0
    expired: int = 0
    unnamed: int = 0
    failed: int = 0


class Archiver:
    """One process' rounds of archiving; `after` is where the next one goes on comparing both sides."""

    def __init__(self, services: Services) -> None:
        self._services, self._run = services, services.run
        self._after = ""
        self._refused: list[ArchiveError] = []

    def round(self, seconds: float) -> Archived:
        """Archive what is due, for so many seconds at most. Raises ArchiveError where the archive does not take anything.

        Until then nothing has left Redis that the archive does not give back.
        """
        keys = self._services.keys
        try:
            self._prepare()
            done = self._round(time.monotonic() + seconds)
        except ArchiveError as error:
            self._run(archivable.failed(keys, str(error)))
            raise
        self._run(archivable.recovered(keys))
        return done

    def _prepare(self) -> None:
        """Lay the archive out the first time; later a database that is missing is missed, and none made in its place."""
        if self._run(archivable.is_begun(self._services.keys)):
            self._run(_CHECK)
        else:
            self._run(_PREPARE)
            self._run(archivable.begun(self._services.keys))

    def _round(self, end: float) -> Archived:
        keys, archived, failed, self._refused = self._services.keys, 0, 0, []
        while time.monotonic() < end:
            now = self._run(due.server_ms())
            resources = self._run(archivable.due(keys, now, _RESOURCES))
            if not resources:
                break
            some, bad = self._archive(resources, now, end)
            archived, failed = archived + some, failed + bad
            self._services.events.archived(some)
        tidied = self._run(tidy(keys, self._after, _TIDIED))
        self._after = tidied.after
        for resource, why in tidied.unread.items():
            _log.warning("archive_passed_over", resource=resource, error=why)
        if self._refused and not archived:  # it answers, and takes nothing: its disk may be full
            raise self._refused[0]
        return Archived(archived, tidied.expired, tidied.unnamed, failed + len(tidied.unread))

    def _archive(self, resources: Sequence[str], now: int, end: float) -> tuple[int, int]:
        """Move what is due of some resources; how many things that were, and how many resources could not be read."""
        looks = {name: self._look(name, now) for name in resources}
        ready = {name: look.ready for name, look in looks.items() if look and look.ready}
        begun: set[str] = set()  # of those that are ready
        with ThreadPoolExecutor(_THREADS) as threads:
            moved = sum(threads.map(partial(self._move_until, end, begun), self._batches(ready)))
        following = {name: self._following(name, look, now) for name, look in looks.items() if name not in ready}
        over = time.monotonic() >= end
        # a resource that takes a whole round comes after those that were not begun
        following |= {name: now if over else self._following(name, looks[name], now) for name in begun}
        self._run(archivable.looked(self._services.keys, following))
        return moved, sum(look is None for look in looks.values())

    def _move_until(self, end: float, begun: set[str], planned: list[Planned]) -> int:
        if time.monotonic() >= end:
            return 0
        begun.update(each.resource for each in planned)
        return self._move(planned)

    def _move(self, planned: list[Planned]) -> int:
        """Move things; if the archive does not take them or they cannot be read, they are halved until one is alone.

        That one stays in Redis, and is tried again when its resource is looked at the next time.
        """
        try:
            return self._run(move(self._services.keys, planned))
        except (ArchiveError, *UNREADABLE) as error:
            self._run(_CHECK)
            things = [(each, one) for each in planned for one in each.candidates]
            if len(things) == 1:
                of, only = things[0]
                _log.warning("archive_passed_over", resource=of.resource, name=only.name, error=str(error)[:300])
                if isinstance(error, ArchiveError) and not isinstance(error, NotArchivableError):
                    self._refused = [error]
                return 0
        middle = len(things) // 2
        return sum(
            self._move([each._replace(candidates=[one]) for each, one in half])
            for half in (things[:middle], things[middle:])
        )

    def _look(self, resource: str, now: int) -> DueItems | None:
        """What may be archived of a resource; None where what it holds cannot be read, which hurts no other."""
        keys = self._services.keys
        with Isolated("archive_passed_over", ArchiveError, resource=resource):
            settings = self._services.settings.for_agent(resource)
            threads = self._run(clear.threads_met(keys, resource))
            stored = self._run(reading.stored_scope(keys, resource))
            if not threads and stored is None:
                return _NOBODY
            one = (stored or settings.scope) == "resource"
            scopes = [Scope(resource)] if one else [Scope(resource, name) for name in threads]
            before = now - round(settings.archive.after * 1_000)
            return self._run(past(keys, resource, scopes, threads, before, settings.retention_s))
        return None

    def _following(self, resource: str, look: DueItems | None, now: int) -> int | None:
        """When to look at a resource again: when the next thing is old enough, when all there is would be, or tomorrow.

        None: never, for nothing is kept of it.
        """
        if look is _NOBODY:
            return None
        if look and look.ready:  # some of it may have stayed
            return now + _PAUSE_MS
        after = round(self._services.settings.for_agent(resource).archive.after * 1_000)
        at = now + max(after, _PAUSE_MS) if look is None or look.next_at is None else look.next_at + after
        return min(at, now + archivable.LONGEST_MS)

    def _batches(self, ready: dict[str, list[Movable]]) -> Iterator[list[Planned]]:
        """So many things at a time, of one resource or of several."""
        planned, room = list[Planned](), _AT_ONCE
        for resource, candidates in ready.items():
            settings = self._services.settings.for_agent(resource)
            for start in range(0, len(candidates), _AT_ONCE):
                some = candidates[start : start + _AT_ONCE]
                planned.append(Planned(resource, some, settings.recall.language, settings.retention_s))
                room -= len(some)
                if room <= 0:
                    yield planned
                    planned, room = [], _AT_ONCE
        if planned:
            yield planned
