"""Undoing reflections: an earlier generation's text is in force again, and what it does not stand for comes back."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.notes.groups import lifetime
from om_api.domain.notes.lineage import difference
from om_api.domain.notes.pins import Notes, needed, with_pins
from om_api.domain.values import Generation, Outcome, Scope, Stored, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory.content import Content, content
from om_api.store.memory.decoding import as_generation
from om_api.store.memory.keys import Keys, ResourceKeys

_LISTED = 10  # generations named in an error
_Back: TypeAlias = Sequence[tuple[int, Stored]]  # each with the generation whose history holds it


def restore(
    keys: Keys, scope: Scope, n: int, keep: int, ttl_s: int, now_ms: int, count: Callable[[str], int]
) -> Steps[Outcome]:
    """Make generation n's text the next generation; 0 is the time before the first.

    Observations that n does not stand for come back, in their old order, before newer ones. A pinned line that would stand
    nowhere is put into the text. `rest` when n is in force,
    `restored` also when it has been restored already, `superseded` when the memory changed meanwhile: repeat then.
    Raises InvalidInputError, and nothing has changed, where a message would be covered by nothing or twice.
    """
    read = yield from content(keys, scope)
    members, reached = dict(read.generations), int(read.generation)
    if n == reached:
        return Outcome.REST
    generations = {number: as_generation(member) for number, member in members.items()}
    if n and n not in generations:
        raise NotFoundError(_unknown(scope, n, sorted(generations)))
    if generations[reached].restores == n:
        return Outcome.RESTORED
    found = difference(generations, reached, n)
    if found is None:
        raise InvalidInputError(
            f"generation {n} of {_named(scope)} cannot be restored: what came between is no longer known, because generations"
            f" were trimmed or the memory was moved to another scope. {_kept(sorted(generations))}"
        )
    back, away = _back(read, n, found.back), _away(read, n, found.away)
    made = _pinned(_made(generations.get(n), n, reached + 1, now_ms, away), read, back, away, count)
    return (yield from Verb("restore", *call(keys.of(scope.resource), read, made, keep, ttl_s, (back, away)), outcome))


def _unknown(scope: Scope, n: int, kept: Sequence[int]) -> str:
    moved = "a move to another scope makes one of those there were, and counts anew"
    return f"{_named(scope)} has no generation {n}: {_kept(kept)} ({moved})"


def _named(scope: Scope) -> str:
    return scope.resource if scope.thread is None else f"{scope.resource}'s thread {scope.thread}"


def _kept(numbers: Sequence[int]) -> str:
    """Which generations there are to choose from."""
    listed = ", ".join(map(str, numbers[-_LISTED:]))
    return f"om history lists {listed}" if numbers else "nothing was reflected yet, so there is none to restore"


def _back(read: Content, n: int, names: Collection[str]) -> _Back:
    """What comes back, in the old order."""
    found = [
        (number, stored)
        for number, _ in read.generations
        for stored in read.histories.get(number, ())
        if stored.observation.id in names
    ]
    if len(found) < len(names):
        raise InvalidInputError(
            f"generation {n} cannot be restored: {len(names) - len(found)} of {len(names)} observations that were condensed"
            f" since have expired, and their messages would be covered by nothing. Restore a later generation"
        )
    return sorted(found, key=lambda pair: pair[1].seq)


def _away(read: Content, n: int, names: Collection[str]) -> list[Stored]:
    """What the text to be restored stands for, and is in force by itself now."""
    found = [stored for stored in read.observations if stored.observation.id in names]
    if len(found) < len(names):
        raise InvalidInputError(
            f"generation {n} cannot be restored: it tells of {len(names) - len(found)} observations that were removed, or"
            f" made anew, since it was undone. Restore another generation"
        )
    return found


def _made(was: Generation | None, n: int, number: int, now_ms: int, away: Sequence[Stored]) -> Generation:
    was = was or Generation(n=0, text="")
    return msgspec.structs.replace(
        was,
        n=number,
        origin="restore",
        restores=n,
        created_at=now_ms,
        input_tokens=was.tokens,
        observation_ids=tuple(stored.observation.id for stored in away),
        dropped_ids=(),
        candidates=(),
        cost=0.0,
        by="",
    )


def _pinned(
    made: Generation, read: Content, back: _Back, away: Sequence[Stored], count: Callable[[str], int]
) -> Generation:
    """The generation with the pinned lines that would stand nowhere."""
    in_force = [read.in_force] if read.in_force else []
    goes = Notes.of(in_force, [stored.observation for stored in away], read.scope)
    stays = Notes.of([], [each.observation for each in read.observations if each not in away], read.scope)
    comes = Notes.of([], [stored.observation for _, stored in back], read.scope)
    pins = [pin for pin in needed(read.pins, goes, stays) if not comes.hold(pin)]
    text = with_pins(made.text, pins, pooled=goes.pooled)
    if text == made.text:
        return made
    return msgspec.structs.replace(made, text=text, tokens=count(text), pieces=())


def call(
    of: ResourceKeys,
    read: Content,
    made: Generation,
    keep: int,
    ttl_s: int,
    moves: tuple[_Back, Sequence[Stored]] = ((), ()),
    pins: bytes | None = None,
) -> tuple[list[str], list[Any]]:
    """The keys and arguments of restore.lua: what `moves` comes back, and goes away; `pins` None: they stay as they are."""
    scope, (back, away) = read.scope, moves
    histories: Mapping[int, int] = {n: place for place, n in enumerate(dict.fromkeys(n for n, _ in back), 1)}
    names = [of.record(scope), of.observations(scope), of.reflections(scope), of.draft(scope)]
    names += [of.reflected(scope, n) for n in (made.n, *histories)]
    grown = sum(stored.observation.tokens for _, stored in back) - sum(stored.observation.tokens for stored in away)
    args: list[Any] = [read.epoch, read.generation, new_id(), msgspec.json.encode(made), made.tokens]
    lives = lifetime((stored.observation for stored in away), ttl_s)
    args += [grown, keep, lives, made.origin, read.pinned, read.pinned if pins is None else pins, len(back)]
    args += [word for n, stored in back for word in (histories[n], exact(stored.seq), stored.member)]
    return names, args + [word for stored in away for word in (exact(stored.seq), stored.member)]
