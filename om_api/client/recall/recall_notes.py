"""Observations and generations as recall searches them: what is in force, and what was replaced as far as it is kept."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from om_api.domain.values import Generation, Observation, Scope
from om_api.recall.loose import Loose
from om_api.recall.recalled import RecalledHit
from om_api.recall.segment import Findable
from om_api.store.driver.steps import Steps
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys


class NotedPart(NamedTuple):
    """Notes of one thread ("" is of all), as they are searched, and what each of them is as a hit."""

    part: Loose
    hits: Sequence[RecalledHit]


def noted_parts(keys: Keys, scopes: Iterable[Scope], kinds: Collection[str], language: str) -> Steps[list[NotedPart]]:
    """What of the notes of some kinds can be searched."""
    hits: list[RecalledHit] = []
    for scope in scopes:
        if "observation" in kinds:
            hits += map(_observation, (yield from _observations(keys, scope)))
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
    for thread in dict.fromkeys(hit.thread_id for hit in hits):
        own = [hit for hit in hits if hit.thread_id == thread]
        notes = [Findable(hit.id, "", hit.at, hit.text) for hit in own]
        yield NotedPart(Loose(thread, notes, language), own)
