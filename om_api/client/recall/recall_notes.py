"""Observations and generations as recall searches them: what is in force, and what was replaced as far as it is kept."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from om_api.domain.values import Generation, Observation, Scope
from om_api.recall.loose import Loose
from om_api.recall.recalled import RecalledHit
from om_api.recall.segment import Findable, Segment, encode
from om_api.store.driver.steps import Steps
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys

_TERM = 12  # bytes: one of a note in a segment


class NotedPart(NamedTuple):
    """Notes of one thread ("" is of all), as they are searched, and what each of them is as a hit."""

    part: Loose | Segment
    hits: Sequence[RecalledHit]


class SetAside(NamedTuple):
    """What one memory has set aside in groups, as it is searched, and the group of each observation."""

    parts: Sequence[NotedPart] = ()
    groups: Mapping[str, str] = {}

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(_TERM * each.part.length + 2 * sum(len(hit.text) for hit in each.hits) for each in self.parts)


def set_aside(keys: Keys, scope: Scope, language: str) -> Steps[SetAside]:
    """What a memory has set aside; nothing is looked for where the generation in force tells of no group."""
    newest = yield from reading.generations(keys, scope, newest=1)
    if not newest or not newest[-1].groups:
        return SetAside()
    kept = [own for _, own in (yield from reading.set_aside(keys, scope))]
    hits = [msgspec.structs.replace(_observation(own), covered_by=f"group {own.group}") for own in kept]
    parts = [NotedPart(Segment(encode(thread, notes, language)), own) for thread, notes, own in _findable(hits)]
    return SetAside(parts, {own.id: own.group for own in kept})


def noted_parts(
    keys: Keys, scopes: Iterable[Scope], kinds: Collection[str], language: str, known: Container[str] = ()
) -> Steps[list[NotedPart]]:
    """What of the notes of some kinds can be searched, but for the observations that are `known`."""
    hits: list[RecalledHit] = []
    for scope in scopes:
        if "observation" in kinds:
            found = yield from _observations(keys, scope)
            hits += (_observation(own) for own in found if own.id not in known)
        if "generation" in kinds:
            generations = yield from reading.generations(keys, scope)
            hits += (_generation(each, scope) for each in generations)
    return list(_by_thread(hits, language))


def _observations(keys: Keys, scope: Scope) -> Steps[list[Observation]]:
    """Those in force and those that were replaced, each once."""
    stored = yield from reading.observations(keys, scope)
    for generation in (yield from reading.generations(keys, scope)):
        stored += yield from reading.replaced(keys, scope, generation.n)
    return list({each.observation.id: each.observation for each in stored}.values())


def _observation(own: Observation) -> RecalledHit:
    return RecalledHit(kind="observation", id=own.id, thread_id=own.thread_id, at=own.to, text=own.text)


def _generation(own: Generation, scope: Scope) -> RecalledHit:
    return RecalledHit(kind="generation", id=str(own.n), thread_id=scope.thread or "", at=own.created_at, text=own.text)


def _by_thread(hits: Sequence[RecalledHit], language: str) -> Iterator[NotedPart]:
    for thread, notes, own in _findable(hits):
        yield NotedPart(Loose(thread, notes, language), own)


def _findable(hits: Sequence[RecalledHit]) -> Iterator[tuple[str, list[Findable], list[RecalledHit]]]:
    """Hits by thread, and what of them is searched."""
    threads: dict[str, list[RecalledHit]] = {}
    for hit in hits:
        threads.setdefault(hit.thread_id, []).append(hit)
    for thread, own in threads.items():
        yield thread, [Findable(hit.id, "", hit.at, hit.text) for hit in own], own
