"""Undoing reflections: an earlier generation's text is in force again, and what it does not stand for comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import InvalidInputError
from om_api.store.decoding import as_generation, as_stored, scored
from om_api.store.lineage import difference
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Generation, Outcome, Scope, new_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from om_api.store.keys import Keys
    from om_api.values import Stored


class _Read(NamedTuple):
    """A scope's version, generations as JSON, observations and histories (generation -> what it replaced), as read."""

    epoch: str
    reached: int
    members: dict[int, bytes]
    observations: list[Stored]
    histories: dict[int, list[Stored]]


def restore(keys: Keys, scope: Scope, n: int, keep: int, ttl_s: int, now_ms: int) -> Steps[Outcome]:
    """Make generation n's text the next generation; 0 is the time before the first.

    Observations that n does not stand for come back, in their old order, before newer ones. `rest` when n is in force,
    `restored` also when it has been restored already, `superseded` when the memory changed meanwhile: repeat then.
    Raises InvalidInputError, and nothing has changed, where a message would be covered by nothing or twice.
    """
    read = yield from _read(keys, scope)
    if n == read.reached:
        return Outcome.REST
    generations = {number: as_generation(member) for number, member in read.members.items()}
    if n and n not in generations:
        raise InvalidInputError(f"{scope} has no generation {n}: use one of those that om history lists, or 0")
    if generations[read.reached].restores == n:
        return Outcome.RESTORED
    found = difference(generations, read.reached, n)
    if found is None:
        raise InvalidInputError(
            f"generation {n} of {scope} cannot be restored: what came between is no longer known, because generations were"
            f" trimmed or the memory was moved to another scope. Restore a later one"
        )
    back, away = _back(read, n, found.back), _away(read, n, found.away)
    made = _made(read.members.get(n), n, read.reached + 1, now_ms, away)
    reply = yield Verb("restore", *_call(keys, scope, read, made, back, away, keep, ttl_s))
    return Outcome(reply.decode())


def _read(keys: Keys, scope: Scope) -> Steps[_Read]:
    of = keys.of(scope.resource)
    version, reflections, observations = yield Batch(
        [
            ("HMGET", of.record(scope), "epoch", "generation"),
            ("ZRANGE", of.reflections(scope), 0, -1, "WITHSCORES"),
            ("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES"),
        ]
    )
    members = {int(n): member for member, n in scored(reflections)}
    commands = [("ZRANGE", of.reflected(scope, n), 0, -1, "WITHSCORES") for n in members]
    histories = (yield Batch(commands, atomic=False)) if commands else []
    epoch, reached = ((value or otherwise).decode() for value, otherwise in zip(version, (b"", b"0"), strict=True))
    replaced = {n: as_stored(reply) for n, reply in zip(members, histories, strict=True)}
    return _Read(epoch, int(reached), members, as_stored(observations), replaced)


def _back(read: _Read, n: int, names: Collection[str]) -> list[tuple[int, Stored]]:
    """What comes back, each with the generation whose history holds it, in the old order."""
    found = [
        (number, stored)
        for number, history in read.histories.items()
        for stored in history
        if stored.observation.id in names
    ]
    if len(found) < len(names):
        raise InvalidInputError(
            f"generation {n} cannot be restored: {len(names) - len(found)} of {len(names)} observations that were condensed"
            f" since have expired, and their messages would be covered by nothing. Restore a later generation"
        )
    return sorted(found, key=lambda pair: pair[1].seq)


def _away(read: _Read, n: int, names: Collection[str]) -> list[Stored]:
    """What the text to be restored stands for, and is in force by itself now."""
    found = [stored for stored in read.observations if stored.observation.id in names]
    if len(found) < len(names):
        raise InvalidInputError(
            f"generation {n} cannot be restored: it tells of {len(names) - len(found)} observations that were removed, or"
            f" made anew, since it was undone. Restore another generation"
        )
    return found


def _made(member: bytes | None, n: int, number: int, now_ms: int, away: Sequence[Stored]) -> Generation:
    was = as_generation(member) if member else Generation(n=0, text="")
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
    )


def _call(
    keys: Keys,
    scope: Scope,
    read: _Read,
    made: Generation,
    back: Sequence[tuple[int, Stored]],
    away: Sequence[Stored],
    keep: int,
    ttl_s: int,
) -> tuple[list[str], list[Any]]:
    of = keys.of(scope.resource)
    histories: Mapping[int, int] = {n: place for place, n in enumerate(dict.fromkeys(n for n, _ in back), 1)}
    names = [
        of.record(scope),
        of.observations(scope),
        of.reflections(scope),
        of.draft(scope),
        of.reflected(scope, made.n),
    ]
    names += [of.reflected(scope, n) for n in histories]
    grown = sum(stored.observation.tokens for _, stored in back) - sum(stored.observation.tokens for stored in away)
    args: list[Any] = [read.epoch, read.reached, new_id(), msgspec.json.encode(made), made.tokens, grown, keep, ttl_s]
    args += [len(back), *(word for n, stored in back for word in (histories[n], _seq(stored), stored.member))]
    return names, args + [word for stored in away for word in (_seq(stored), stored.member)]


def _seq(stored: Stored) -> str:
    return format(stored.seq, ".17g")
