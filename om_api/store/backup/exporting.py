"""Writing a resource's whole memory as lines: what lives as of one instant, then, in slices, what cannot change any more."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from om_api.domain.errors import StoreError
from om_api.domain.message_size import MAX_TEXT
from om_api.domain.values import Scope
from om_api.store.backup import backup_format
from om_api.store.backup.backup_format import Line, Text, as_text
from om_api.store.driver.replies import Pair, as_int, as_pairs, server_ms
from om_api.store.driver.steps import Batch, Steps, batch, by_name
from om_api.store.erasing.redacted import values
from om_api.store.memory.clear import threads_of
from om_api.store.memory.decoding import (
    AWAY,
    MEMORY,
    as_generation,
    as_observation,
    memory_mode,
    unsealed_threads,
)
from om_api.store.memory.instant import NOTHING, Instant, Wanted, lasts, settled
from om_api.store.memory.keys import Keys, ResourceKeys, histories
from om_api.store.threads.aliases import as_aliases

LINES = 500  # given at once
_SOURCES = 10  # read in one round trip
# of a record: requests, since when nothing changed, what an import makes anew
_PASSING = ("force", "stirred", "indexed", "proposed")


class Outgoing:
    """A resource on its way into a file. Everything that lives is of one instant; `more` gives lines while there are any.

    The messages behind observations come after it, a few at a time: they never change, only expire. Those that expire,
    or are removed by their owner, before their turn are left out, as they would be a moment later.
    """

    def __init__(self, keys: Keys, resource: str) -> None:
        self._keys, self._resource = keys, resource
        self._living: Iterator[Line] | None = None
        self._sources: list[SourcePlace] = []
        self._lines, self._digest, self._ended = 0, hashlib.sha256(), False

    def more(self) -> Steps[bytes]:
        """Some whole lines; b"" when the last one was given. Raises StoreError."""
        if self._living is None:
            found = yield from snapshot(self._keys, self._resource)
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


def _living(found: "ExportSnapshot") -> Iterator[Line]:
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
    for fields in _parts(found.hash(of.working)):
        yield backup_format.WorkingLine(fields=_fields(fields))
    for sealed in _parts(values(found.hash(of.redacted))):
        yield backup_format.RedactedLine(fields=_fields(sealed))
    for alias, thread in as_aliases(found.hash(of.aliases)).items():
        yield backup_format.AliasLine(alias=alias, thread=thread)
    for entry in found.entries(of.rejected):
        yield backup_format.RejectedLine(entry=as_text(entry))


def _parts(fields: Mapping[bytes, bytes]) -> Iterator[dict[bytes, bytes]]:
    """Fields in parts of about 1 MB, since a line that is imported has a largest size."""
    part, size = dict[bytes, bytes](), 0
    for name, value in fields.items():
        part[name] = value
        size += len(name) + len(value)
        if size > MAX_TEXT:
            yield part
            part, size = {}, 0
    if part:
        yield part


def _memory(found: "ExportSnapshot", scope: Scope) -> Iterator[Line]:
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


def _threads(found: "ExportSnapshot") -> Iterator[Line]:
    of = found.of
    unsealed, met = unsealed_threads(found.hash(of.tokens)), dict(found.members(of.threads))
    for thread in found.threads:
        tokens, messages = unsealed.get(thread, (0, 0))
        here = () if AWAY + thread.encode() in found.hash(of.tokens) else ("archived_at",)
        fields = _fields(found.hash(of.thread(thread)), without=here)
        at = met.get(thread.encode())
        retracted = found.hash(of.known(thread)).get(b"@", b"").hex()
        yield backup_format.ThreadLine(
            thread=thread,
            at=at,
            messages=messages,
            tokens=tokens,
            fields=fields,
            retracted=retracted,
            memory=memory_mode(found.hash(of.tokens), thread),
        )
        yield from _messages(found.members(of.messages(thread)), thread=thread)


def _messages(members: Sequence[Pair], **place: str) -> Iterator[Line]:
    for member, score in members:
        # a score that is no number waits for adoption, which takes it for no time at all: so it does 0
        yield backup_format.MessageLine(score=score if math.isfinite(score) else 0, message=as_text(member), **place)


def _fields(held: Mapping[bytes, bytes], without: tuple[str, ...] = ()) -> dict[str, Text]:
    named = {name.decode("utf-8", "replace"): as_text(value) for name, value in held.items()}
    return {name: value for name, value in named.items() if not name.startswith(without or ("\0",))}


def _behind(keys: Keys, resource: str, sources: "Sequence[SourcePlace]") -> Steps[list[Line]]:
    of, lines = keys.of(resource), list[Line]()
    now, kept = yield from batch(server_ms(), by_name(sources, lambda source: _source(of.source(source.observation))))
    for source, (left, members) in kept.items():
        if left > 0:
            lines.append(backup_format.SourceLine(**source._asdict(), expires_at=now + left))
            lines += _messages(members, observation=source.observation)
    return lines


def _source(key: str) -> Batch[tuple[int, list[Pair]]]:
    return batch(as_int("PTTL", key), as_pairs("ZRANGE", key, 0, -1, "WITHSCORES"))


# -- one instant -------------------------------------------------------------------------------------------------------


class SourcePlace(NamedTuple):
    """Whose messages: an observation's, of which thread ("" where nothing says it), activated at which Unix ms (0: same)."""

    observation: str
    thread: str
    activated_at: int


class ExportSnapshot:
    """A resource at one instant: everything that lives, and where the messages behind its observations are."""

    def __init__(self, of: ResourceKeys, resource: str, found: Instant) -> None:
        self.of, self.resource, self.now = of, resource, found.now
        self._found = found

    def text(self, key: str) -> str | None:
        """What a string holds."""
        found = self._found.strings.get(key)
        return found.decode() if found else None

    def hash(self, key: str) -> dict[bytes, bytes]:
        """What a hash holds."""
        return self._found.hashes.get(key, {})

    def members(self, key: str) -> list[Pair]:
        """What a sorted set holds, with scores."""
        return self._found.zsets.get(key, [])

    def entries(self, key: str) -> list[bytes]:
        """What a list holds, or a set, in a lasting order."""
        return self._found.lists.get(key, [])

    def expires_at(self, key: str) -> int | None:
        """When a key expires, in Unix ms, None for one that does not; a lifetime that is not known has ended."""
        left = self._found.lifetimes.get(key, 0)
        return None if lasts(left) else self.now + max(0, left)

    @property
    def threads(self) -> list[str]:
        """Every thread that anything here names, and those whose messages were looked for."""
        stem = self.of.messages("")
        looked = {key.removeprefix(stem) for key in self._found.zsets if key.startswith(stem)}
        met = {name.decode() for name, _ in self.members(self.of.threads)}
        sealed = {self.hash(self.of.chunk(chunk)).get(b"thread", b"").decode() for chunk in self._chunks()}
        counts = self.hash(self.of.tokens)
        moded = {field.removeprefix(MEMORY).decode() for field in counts if field.startswith(MEMORY)}
        return sorted((looked | met | sealed | moded | unsealed_threads(counts).keys()) - {""})

    @property
    def scopes(self) -> list[Scope]:
        """Every scope that may have a memory here; while none is in force, nothing has."""
        if self.text(self.of.scope) != "thread":
            return [Scope(self.resource)]
        return [Scope(self.resource, thread) for thread in self.threads]

    def _chunks(self) -> list[str]:
        indexes = [key for key in self._found.zsets if key.startswith(f"{self.of.base}:chunks")]
        return [chunk.decode() for key in indexes for chunk, _ in self.members(key)]

    def histories(self, scope: Scope) -> list[int]:
        """The generations of a scope that may have replaced something, kept or not."""
        return list(histories(int(self.hash(self.of.record(scope)).get(b"generation", 0))))

    def sources(self) -> list[SourcePlace]:
        """Where the messages behind observations are, as far as anything here names them."""
        found: dict[str, SourcePlace] = {}
        for scope in self.scopes:
            sets = [self.of.observations(scope), *(self.of.reflected(scope, n) for n in self.histories(scope))]
            generations = [as_generation(member) for member, _ in self.members(self.of.reflections(scope))]
            for name in (name for one in generations for name in (*one.observation_ids, *one.dropped_ids)):
                found[name] = SourcePlace(name, "", 0)
            for observation in (as_observation(member) for key in sets for member, _ in self.members(key)):
                found[observation.id] = SourcePlace(observation.id, observation.thread_id, 0)
        for thread in self.threads:
            for member, at in self.members(self.of.sources(thread)):
                found[member.decode()] = SourcePlace(member.decode(), thread, int(at))
        return sorted(found.values())

    def implied(self) -> Wanted:
        """Everything that must have been read for this to be whole: keys, and how each is read."""
        of = self.of
        wanted = {(of.scope, "string"), (of.tokens, "hash"), (of.threads, "zset"), (of.rejected, "list")}
        wanted |= {(of.aliases, "hash"), (of.working, "hash"), (of.redacted, "hash")}
        for thread in self.threads:
            wanted |= {(of.messages(thread), "zset"), (of.thread(thread), "hash"), (of.sources(thread), "zset")}
            wanted.add((of.known(thread), "hash"))
        for scope in self.scopes:
            lists = {of.chunks(scope), of.observations(scope), of.reflections(scope)}
            wanted |= {(of.record(scope), "hash"), *((key, "zset") for key in lists)}
            past = [of.reflected(scope, n) for n in self.histories(scope)]
            wanted |= {(key, kind) for key in past for kind in ("zset", "lifetime")}
        for chunk in self._chunks():
            wanted |= {(of.chunk(chunk), "hash"), (of.sealed(chunk), "zset")}
        return wanted


def snapshot(keys: Keys, resource: str) -> Steps[ExportSnapshot]:
    """Read a resource in one MULTI, done again only if what was read names a key that was not; raises StoreError."""
    of = keys.of(resource)
    threads = yield from threads_of(keys, resource)
    known = {(of.messages(thread), "zset") for thread in threads} | ExportSnapshot(of, resource, NOTHING).implied()
    found, rests = yield from settled(known, partial(ExportSnapshot, of, resource), ExportSnapshot.implied)
    if not rests:
        raise StoreError(f"{resource} changes faster than it can be read: pause it, or repeat.", stored=False)
    return found
