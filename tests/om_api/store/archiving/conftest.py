"""A memory of which a part is old, an archive in a file, and what stands where."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from world import World

from om_api.archive.opening import open_archive
from om_api.archive.protocol import Archive
from om_api.domain.values import Scope
from om_api.recall.analysis import AUTO
from om_api.store.archiving.candidates import DueItems, past
from om_api.store.archiving.moving import Planned, move
from om_api.store.memory import due

KEEP_S = 86_400


class OldHouse(NamedTuple):
    """A world whose `harold` has said things that were observed and reflected."""

    world: World
    archive: Archive
    path: Path

    @property
    def of(self) -> Any:
        return self.world.services.keys.of("harold")

    def run(self, steps: Any) -> Any:
        return self.world.services.run(steps)

    def past(self, before: int | None = None) -> DueItems:
        """What may be archived."""
        now = self.run(due.server_ms()) if before is None else before
        return self.run(past(self.world.services.keys, "harold", [Scope("harold")], ["t-1"], now, KEEP_S))

    def planned(self) -> list[Planned]:
        return [Planned("harold", self.past().ready, AUTO, KEEP_S)]

    def move(self) -> int:
        """Archive all that may be."""
        return self.run(move(self.world.services.keys, self.planned()))

    def marks(self) -> dict[str, int]:
        found = self.world.client.zrange(self.of.archived, 0, -1, withscores=True)
        return {name.decode(): int(mark) for name, mark in found}

    def said(self) -> list[str]:
        """The ids of all that is found, wherever it stands."""
        return sorted(hit.id for hit in self.world.om.recall("harbour", "harold", limit=50).hits)

    def stands(self, kind: str) -> list[str]:
        """Keys of a kind in Redis."""
        return sorted(key.decode().split("}:")[1] for key in self.world.client.scan_iter(f"{self.of.base}:{kind}:*"))

    def in_rows(self, word: str) -> list[str]:
        """The names of rows that hold a word."""
        rows = self.archive.names("harold")
        entries = [self.archive.read("harold", {name: revision}) for name, revision in sorted(rows)]
        return [name for found in entries for name, entry in found.items() if word in repr(entry.members)]


@pytest.fixture
def house(client, prefix, tmp_path):
    path = tmp_path / "archive.db"
    world = World(client, prefix, archive__url=f"sqlite:///{path}", archive__after="0s", max_reflections="100")
    archive = open_archive(f"sqlite:///{path}")
    archive.prepare()
    yield OldHouse(world, archive, path)
    world.om.close()
    archive.close()


@pytest.fixture
def old(house):
    """Three sources of two messages each; the first was reflected."""
    for n in range(3):
        house.world.say(*(f"m{n}{k} in the harbour" for k in range(2)))
        house.world.om.force_observe("t-1", "harold")
        house.world.settle()
        if n == 0:
            house.world.om.force_reflect("harold")
            house.world.settle()
    return house


class _Before:
    """An archive before one of whose calls something happens, once."""

    def __init__(self, archive: Any, name: str, meanwhile: Callable[[], Any]) -> None:
        self._archive, self._name, self._waiting = archive, name, [meanwhile]

    def __getattr__(self, name: str) -> Any:
        if name == self._name and self._waiting:
            self._waiting.pop()()
        return getattr(self._archive, name)


@pytest.fixture
def before(old):
    """Have something happen right before a call of the archive, by a worker or by a client."""

    def arrange(name: str, meanwhile: Callable[[], Any], connection: Any = None) -> None:
        endpoint = (connection or old.world.services.connection)._endpoint
        endpoint.past = _Before(endpoint.past, name, meanwhile)

    return arrange
