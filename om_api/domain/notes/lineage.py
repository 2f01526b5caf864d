"""Which generation was made of which, and so which observations each of them stands for."""

from collections.abc import Mapping
from typing import NamedTuple

from om_api.domain.values import Generation


class Covered(NamedTuple):
    """The observations that a generation is known to stand for; `whole` if there can be no others."""

    ids: frozenset[str]
    whole: bool


class Difference(NamedTuple):
    """What is in force again when one generation takes another's place, and what no longer is."""

    back: frozenset[str]
    away: frozenset[str]


def covered(generations: Mapping[int, Generation], n: int) -> Covered:
    """The observations that generation n stands for, as far as the kept generations say."""
    way = _way(generations, n)
    return Covered(_replaced(generations, way), not way[-1] or way[-1] in generations)


def difference(generations: Mapping[int, Generation], in_force: int, wanted: int) -> Difference | None:
    """What changes when `wanted` takes the place of `in_force`; 0 is the time before the first generation.

    None if nobody can know: the ways back from both meet only beyond what is kept, or before a migration.
    """
    here, there = _way(generations, in_force), _way(generations, wanted)
    meeting = next((n for n in here if n in there), None)
    if meeting is None:
        return None
    gone = _replaced(generations, _reflected(generations, here[: here.index(meeting)]))
    said = _replaced(generations, _reflected(generations, there[: there.index(meeting)]))
    return Difference(gone - said, said - gone)


def _way(generations: Mapping[int, Generation], n: int) -> list[int]:
    """The numbers from a generation back to 0, to one that is no longer kept, or to one that a migration made."""
    way = [n]
    while way[-1] in generations:
        before = _before(generations[way[-1]])
        if before is None:
            break
        way.append(before)
    return way


def _before(generation: Generation) -> int | None:
    """The generation that this one builds on; None for what a migration put together."""
    return generation.restores if generation.origin == "restore" else generation.n - 1


def _reflected(generations: Mapping[int, Generation], way: list[int]) -> list[int]:
    """Those that a reflection made: what an undo took away its ancestors stand for, where the ways meet or beyond as well."""
    return [n for n in way if n in generations and generations[n].origin != "restore"]


def _replaced(generations: Mapping[int, Generation], way: list[int]) -> frozenset[str]:
    return frozenset(name for n in way if n in generations for name in generations[n].observation_ids)
