"""Writing a resource's whole memory as lines: what lives as of one instant, then, in slices, what cannot change any more."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from om_api.domain.values import Scope
from om_api.store.backup import backup_format, export_snapshot
from om_api.store.backup.backup_format import Line, Text, as_text
from om_api.store.backup.export_snapshot import Behind, Picture
from om_api.store.driver.replies import Pair, as_int, as_pairs, server_ms
from om_api.store.driver.steps import Batch, Steps, batch, by_name
from om_api.store.memory.decoding import unsealed_threads
from om_api.store.memory.keys import Keys

LINES = 500  # given at once
_SOURCES = 10  # read in one round trip
_IDS = 1_000  # in one line
_PASSING = ("force", "stirred")  # of a record: requests, and since when nothing changed


class Outgoing:
    """A resource on its way into a file. Everything that lives is of one instant; `more` gives lines while there are any.

    The messages behind observations come after it, a few at a time: they never change, only expire. Those that expire,
    or are removed by their owner, before their turn are left out, as they would be a moment later.
    """

    def __init__(self, keys: Keys, resource: str) -> None:
        self._keys, self._resource = keys, resource
        self._living: Iterator[Line] | None = None
        self._sources: list[Behind] = []
        self._lines, self._digest, self._ended = 0, hashlib.sha256(), False

    def more(self) -> Steps[bytes]:
        """Some whole lines; b"" when the last one was given. Raises StoreError."""
        if self._living is None:
            found = yield from export_snapshot.take(self._keys, self._resource)
            self._living, self._sources = _living(found), found.sources()
        if living := list(islice(self._living, LINES)):
            return b"".join(map(self._written, living))
        while some := self._sources[:_SOURCES]:
            del self._sources[:_SOURCES]
            if lines := (yield from _behind(self._keys, self._resource, some)):
                return b"".join(map(self._written, lines))
        return self._end()

    def _written(self, line: Line) -> bytes:
        text = backup_format.write(line) + b"\n"
        self._lines += 1
        self._digest.update(text)
        return text

    def _end(self) -> bytes:
        if self._ended:
            return b""
        self._ended = True
        return self._written(backup_format.End(lines=self._lines, sha256=self._digest.hexdigest()))


def _living(found: Picture) -> Iterator[Line]:
    of = found.of
    tokens = found.hash(of.tokens)
    yield backup_format.MemoryLine(
        format=backup_format.FORMAT,
        resource=found.resource,
        scope=found.text(of.scope),
        exported_at=found.now,
        paused=b"*paused" in tokens,
        signing_key=tokens.get(b"*key", b"").decode("ascii", "ignore"),
    )
    for scope in found.scopes:
        yield from _memory(found, scope)
    yield from _threads(found)
    for entry in found.entries(of.rejected):
        yield backup_format.RejectedLine(entry=as_text(entry))


def _memory(found: Picture, scope: Scope) -> Iterator[Line]:
    of, name = found.of, scope.thread
    record = found.hash(of.record(scope))
    if not record.get(b"epoch"):
        return
    yield backup_format.RecordLine(memory=name, fields=_fields(record, without=_PASSING))
    for member, n in found.members(of.reflections(scope)):
        yield backup_format.GenerationLine(memory=name, n=int(n), generation=as_text(member))
    for n in found.histories(scope):
        key = of.reflected(scope, n)
        for member, seq in found.members(key):
            yield backup_format.ObservationLine(
                memory=name, seq=seq, observation=as_text(member), replaced_by=n, expires_at=found.expires_at(key)
            )
    for member, seq in found.members(of.observations(scope)):
        yield backup_format.ObservationLine(memory=name, seq=seq, observation=as_text(member))
    for chunk in (chunk.decode() for chunk, _ in found.members(of.chunks(scope))):
        yield backup_format.ChunkLine(memory=name, chunk=chunk, fields=_fields(found.hash(of.chunk(chunk))))
        yield from _messages(found.members(of.sealed(chunk)), chunk=chunk)


def _threads(found: Picture) -> Iterator[Line]:
    of = found.of
    unsealed, met = unsealed_threads(found.hash(of.tokens)), dict(found.members(of.threads))
    for thread in found.threads:
        tokens, messages = unsealed.get(thread, (0, 0))
        fields = _fields(found.hash(of.thread(thread)))
        at = met.get(thread.encode())
        yield backup_format.ThreadLine(thread=thread, at=at, messages=messages, tokens=tokens, fields=fields)
        yield from _messages(found.members(of.messages(thread)), thread=thread)
        for window in found.windows:
            yield from _seen(thread, window, found.entries(of.seen(thread, window)))


def _seen(thread: str, window: int, ids: Sequence[bytes]) -> Iterator[Line]:
    for start in range(0, len(ids), _IDS):
        yield backup_format.SeenLine(
            thread=thread, window=window, ids=[as_text(name) for name in ids[start : start + _IDS]]
        )


def _messages(members: Sequence[Pair], **place: str) -> Iterator[Line]:
    for member, score in members:
        # a score that is no number waits for adoption, which takes it for no time at all: so it does 0
        yield backup_format.MessageLine(score=score if math.isfinite(score) else 0, message=as_text(member), **place)


def _fields(held: Mapping[bytes, bytes], without: tuple[str, ...] = ()) -> dict[str, Text]:
    named = {name.decode("utf-8", "replace"): as_text(value) for name, value in held.items()}
    return {name: value for name, value in named.items() if not name.startswith(without or ("\0",))}


def _behind(keys: Keys, resource: str, sources: Sequence[Behind]) -> Steps[list[Line]]:
    of, lines = keys.of(resource), list[Line]()
    now, kept = yield from batch(server_ms(), by_name(sources, lambda source: _source(of.source(source.observation))))
    for source, (left, members) in kept.items():
        if left > 0:
            lines.append(backup_format.SourceLine(**source._asdict(), expires_at=now + left))
            lines += _messages(members, observation=source.observation)
    return lines


def _source(key: str) -> Batch[tuple[int, list[Pair]]]:
    return batch(as_int("PTTL", key), as_pairs("ZRANGE", key, 0, -1, "WITHSCORES"))
