"""Moving to the archive: written there, read back, then dropped from Redis in one script, so that whoever dies loses nothing.

Time 0: a worker reads a source. Time 1: it writes it to the archive; nobody reads it there, for `archived` does not name it.
Time 2: it reads it back. Time 3: one script drops the source, if it is still what was read and nobody held its resource since
time 0, and names it in `archived`. A worker that dies after 1 or 2 has left a copy that nobody reads, and that the next one
finds written.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.archive.entries import Entry
from om_api.recall.segment import encode, is_current
from om_api.store.archiving.candidates import Movable
from om_api.store.archiving.holding import LockSeen, look
from om_api.store.driver.replies import Pair, as_fields, as_int, as_pairs, server_ms
from om_api.store.driver.steps import Batch, FromArchive, Steps, Verb, batch, by_name
from om_api.store.index.indexing import findable
from om_api.store.memory.keys import Keys

_AT_ONCE = 100  # read in one round trip
_IN_A_SCRIPT = 20  # dropped by one
_FOR_EVER, _LATEST_MS = (
    -1,
    9_999_999_999_999,
)  # as PTTL says it; what is set aside in groups is kept as long as its memory
_ROUNDING_MS = 60_000  # by which a lifetime may be shorter than what is to be kept and still mean the same


class Planned(NamedTuple):
    """What is to be moved of a resource, in which language it is indexed, and for how long (s) what lists it lives at least.

    `holder`: who holds the resource and may move nevertheless.
    """

    resource: str
    candidates: Sequence[Movable]
    language: str
    keep_s: int = 0
    holder: str = ""


class _Read(NamedTuple):
    """An entry as it stands in Redis, and where."""

    candidate: Movable
    entry: Entry


def move(keys: Keys, planned: Sequence[Planned]) -> Steps[int]:
    """Move things of some resources at once; how many left Redis. What changed meanwhile, or was removed, stays as it is.

    Raises ArchiveError where the archive does not take them, or not give them back: nothing left Redis that cannot be read.
    """
    resources = {plan.resource for plan in planned}
    fences = yield from FromArchive(lambda archive: archive.fences(resources))
    read: list[tuple[Planned, LockSeen, list[_Read]]] = []
    for plan in planned:
        read.append((plan, *(yield from _contents(keys, plan))))  # noqa: PERF401  nothing yields in a comprehension
    entries = [each.entry for *_, found in read for each in found]
    written = (yield from FromArchive(lambda archive: archive.write(entries, fences))) if entries else {}
    moved = 0
    for plan, begun, found in read:
        names = {each.entry.name for each in found}
        own = {name: revision for (of, name), revision in written.items() if of == plan.resource and name in names}
        kept = yield from _read_back(plan.resource, own)
        moved += yield from _dropped(keys, plan, begun, [each for each in found if _is_kept(each, kept)], kept)
    return moved


def _read_back(resource: str, revisions: Mapping[str, int]) -> Steps[dict[str, Entry]]:
    if not revisions:
        return {}
    return (yield from FromArchive(lambda archive: archive.read(resource, revisions)))


def _is_kept(read: _Read, kept: Mapping[str, Entry]) -> bool:
    """Whether the archive gives back what it was given, byte by byte."""
    found = kept.get(read.entry.name)
    return found is not None and (found.members, found.segment) == (read.entry.members, read.entry.segment)


def _contents(keys: Keys, plan: Planned) -> Steps[tuple[LockSeen, list[_Read]]]:
    """What the candidates hold, but for what has expired."""
    of, begun, found = keys.of(plan.resource), LockSeen(b"", 0), list[_Read]()
    for start in range(0, len(plan.candidates), _AT_ONCE):
        some = plan.candidates[start : start + _AT_ONCE]
        seen, held = yield from batch(look(of), by_name(some, _held))
        begun = begun if start else seen
        for each, (now, members, (segment,), left) in held.items():
            if members:
                found.append(_Read(each, _entry(plan, each, members, segment, _expires(each, now, left))))
    return begun, found


def _expires(each: Movable, now: int, left: int) -> int:
    """When its key expires (Unix ms); 0 where that says nothing, as it holds more than this."""
    if left == _FOR_EVER and each.kind == "observations":
        return _LATEST_MS
    return now + left if left > 0 else 0


def _held(each: Movable) -> Batch[tuple[int, list[Pair], list[bytes | None], int]]:
    """Its members, its segment, and how long it lives (ms). Not by ZRANGE, which would ask the archive for what is gone."""
    first, last = ("-inf", "+inf") if each.n is None else (each.n, each.n)
    members = as_pairs("ZRANGEBYSCORE", each.key, first, last, "WITHSCORES")
    return batch(server_ms(), members, _texts(each.segment), as_int("PTTL", each.key))


def _texts(key: str) -> Batch[list[bytes | None]]:
    """What a string holds: of one that is none, nothing; GET would ask the archive."""
    return as_fields("MGET", key)


def _entry(plan: Planned, each: Movable, members: Sequence[Pair], segment: bytes | None, expires: int) -> Entry:
    expires_at = expires if expires >= each.until - _ROUNDING_MS else each.until
    words = segment or b""
    if each.kind == "messages" and not is_current(words):
        words = encode(each.thread, findable(members, each.thread, plan.resource), plan.language)
    return Entry(plan.resource, each.name, each.kind, each.thread, each.at, expires_at, tuple(members), words)


def _dropped(
    keys: Keys, plan: Planned, begun: LockSeen, read: Sequence[_Read], kept: Mapping[str, Entry]
) -> Steps[int]:
    of, dropped = keys.of(plan.resource), 0
    for start in range(0, len(read), _IN_A_SCRIPT):
        names, args = [of.archived, of.hold], list[Any]([plan.keep_s, plan.holder, *begun])
        for each, entry in read[start : start + _IN_A_SCRIPT]:
            names += [each.key, each.segment, each.lister]
            args += [each.name, kept[each.name].revision, "" if each.n is None else each.n, len(entry.members)]
            args += [member for member, _ in entry.members]
        dropped += yield from Verb("archive", names, args, _counted)
    return dropped


def _counted(reply: Any) -> int:
    return sum(map(int, reply))
