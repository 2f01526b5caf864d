"""Redis and the archive as one, for plain looks: what was archived is read in its place, as docs/archive.md says it."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import redis

from chaos.archives import Row

Pair = tuple[bytes, float]


class Both:
    """A client of Redis for which nothing was archived. `lacks`: what Redis names and no row is; `unnamed` rows count nowhere."""

    def __init__(self, client: redis.Redis, prefix: str, rows: Iterable[Row], resource: str = "*") -> None:
        self._client, self._held = client, defaultdict[bytes, list[Pair]](list)
        self.lacks: list[str] = []
        bodies = defaultdict[tuple[str, str], dict[int, str]](dict)
        for of, name, revision, body in rows:
            bodies[of, name][revision] = body
        for key in client.scan_iter(f"{prefix}:{{{resource}}}:archived", count=1000):
            base = key.decode().removesuffix(":archived")
            of = base.removeprefix(f"{prefix}:{{").removesuffix("}")
            for name, mark in client.zrange(key, 0, -1, withscores=True):
                self._take(base, name.decode(), int(mark), bodies[of, name.decode()])
        self.unnamed = sum(map(len, bodies.values()))

    def _take(self, base: str, name: str, mark: int, bodies: dict[int, str]) -> None:
        """The row that counts: of the revision that Redis names, or else the next one above."""
        counts = min((revision for revision in bodies if revision >= mark), default=None)
        if counts is None:
            self.lacks.append(f"{base}:{name}")
            return
        self._held[f"{base}:{name.partition('|')[0]}".encode()] += _members(bodies.pop(counts))

    def scan_iter(self, pattern: str, count: int = 1000) -> Iterator[bytes]:
        """Keys of both."""
        there = set(self._client.scan_iter(pattern, count=count))
        yield from there
        yield from (key for key in self._held if key not in there and fnmatchcase(key.decode(), pattern))

    def zrange(self, key: str | bytes, first: int, last: int, *, withscores: bool = False) -> list[Any]:
        """Members of both, in order; whatever stands in both homes is there twice."""
        archived = self._held.get(key if isinstance(key, bytes) else key.encode(), [])
        if not archived:
            return list(self._client.zrange(key, first, last, withscores=withscores))
        found = [*archived, *self._client.zrange(key, 0, -1, withscores=True)]
        found = sorted(found, key=lambda pair: pair[1])[first : last + 1 or None]
        return found if withscores else [member for member, _ in found]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def _members(body: str) -> Iterator[Pair]:
    for score, member, *rest in json.loads(body):
        yield base64.b64decode(rest[0]) if rest else json.dumps(member).encode(), score
