"""Recall's index of what was archived: heads of all of it, and the segments of what may answer."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from om_api.archive.entries import Head
from om_api.recall.distant import Distant
from om_api.recall.segment import Segment
from om_api.recall.segment_format import SegmentError
from om_api.store.driver.replies import as_bytes, as_pairs, server_ms
from om_api.store.driver.steps import FromArchive, Steps
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.keys import Keys, ResourceKeys, tail_of

_FEW = 200  # of which each is asked for by itself


def archived(keys: Keys, resource: str, names: Collection[str]) -> Steps[dict[str, int]]:
    """Which of some observations have their messages in the archive, and in which revision."""
    of = keys.of(resource)
    if len(names) > _FEW:
        every = yield from as_pairs("ZRANGE", of.archived, 0, -1, "WITHSCORES")
        entries = {_entry(of, name): name for name in names}
        return {entries[name]: int(mark) for key, mark in every if (name := key.decode()) in entries}
    found = yield from of_many(lambda name: as_bytes("ZSCORE", of.archived, _entry(of, name)), sorted(names))
    return {name: int(float(mark)) for name, mark in found.items() if mark is not None}


def heads(keys: Keys, resource: str, marks: Mapping[str, int]) -> Steps[dict[str, Distant]]:
    """What is known of archived messages before anything is fetched; raises ArchiveError.

    What has expired is left out, and what the archive has in an earlier revision only: it was restored from an older backup.
    """
    now, found = yield from _heads(keys, resource, marks)
    return {
        name: Distant(head.thread, head.size, head.length, frozenset(head.languages), head.first_at)
        for name, head in found.items()
        if head.expires_at > now
    }


def lacking(keys: Keys, resource: str, marks: Mapping[str, int]) -> Steps[dict[str, int]]:
    """Which of them the archive has not, also not as what has expired."""
    _, found = yield from _heads(keys, resource, marks)
    return {name: mark for name, mark in marks.items() if name not in found}


def _heads(keys: Keys, resource: str, marks: Mapping[str, int]) -> Steps[tuple[int, dict[str, Head]]]:
    """The server's time (ms), and heads by observation."""
    of = keys.of(resource)
    entries = {_entry(of, name): name for name in marks}
    now = yield from server_ms()
    listed = yield from FromArchive(lambda archive: archive.heads(resource))
    known = ((entries[head.name], head) for head in listed if head.name in entries)
    return now, {name: head for name, head in known if head.revision >= marks[name]}


def answering(keys: Keys, resource: str, terms: Collection[str], periods: Sequence[tuple[int, int]]) -> Steps[set[str]]:
    """The observations whose archived messages hold any of these terms, or were said in one of these periods (Unix ms)."""
    of = keys.of(resource)
    found = yield from FromArchive(lambda archive: archive.search(resource, terms, periods))
    return {_observation(of, name) for name in found}


def holding(keys: Keys, resource: str, message: str, thread: str | None) -> Steps[set[str]]:
    """The observations whose archived messages may hold one of this id."""
    of = keys.of(resource)
    found = yield from FromArchive(lambda archive: archive.holding(resource, message, thread))
    return {_observation(of, name) for name in found}


def fetched(keys: Keys, resource: str, marks: Mapping[str, int]) -> Steps[dict[str, Segment]]:
    """The segments of archived messages; those of another version of the index are left out. Raises ArchiveError."""
    of = keys.of(resource)
    wanted = {_entry(of, name): mark for name, mark in marks.items()}
    values = yield from FromArchive(lambda archive: archive.segments(resource, wanted))
    found: dict[str, Segment] = {}
    for name, value in values.items():
        with suppress(SegmentError):
            found[_observation(of, name)] = Segment(value)
    return found


def _entry(of: ResourceKeys, observation: str) -> str:
    return tail_of(of, of.source(observation))


def _observation(of: ResourceKeys, entry: str) -> str:
    return entry.removeprefix(tail_of(of, of.source("")))
