"""The breaker of each model, shared by all workers: a provider that is down is left alone, one that refuses is asked less."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from om_api.store.driver.replies import as_fields, nothing, server_ms
from om_api.store.driver.steps import Steps, Verb, batch, by_name
from om_api.store.memory.keys import Keys, safe_name

Word = Literal["closed", "probe", "full", "open", "busy", "held"]
Outcome = Literal["answered", "failed", "late", "busy", "none"]
_LONGEST_MS = 600_000  # no pause lasts longer, see the scripts
_FIELDS = ("busy", "until", "failures", "room", "cut")


class BreakerState(NamedTuple):
    """How a model's breaker stands: `open` it failed too often, `busy` its provider refuses everything; `wait` seconds from now.

    `held`: its provider refused some calls lately, so that no more than `room` are in flight. `failures` since it
    answered last. An open one without a wait lets a probe in.
    """

    word: Word
    wait: float = 0.0
    failures: int = 0
    room: int = 0


class Attempt(NamedTuple):
    """One call of a model: whoever makes it says so by the same `token`, and is taken for dead after `lease_s`."""

    model: str
    token: str
    lease_s: float


def enter(keys: Keys, call: Attempt, most: int | None = None) -> Steps[BreakerState]:
    """Ask whether a call may be made now, and take one of `most` places for it; None is any number.

    `closed` yes, `probe` yes and alone, `full` when another call has ended, `open` and `busy` not before `wait`. Whoever may
    says with `report` how it ended.
    """
    arguments = [call.token, round(call.lease_s * 1000), "" if most is None else most]
    return (yield from Verb("breaker_enter", _keys(keys, call.model), arguments, _entered))


def _entered(reply: Any) -> BreakerState:
    word, wait = reply
    return BreakerState(word.decode(), wait / 1000)


def report(keys: Keys, call: Attempt, outcome: Outcome, wait: float = 0.0) -> Steps[None]:
    """Give the call's place back and say how it ended; `none`: it was not made after all.

    `busy`: its provider refused it and asked for `wait` seconds. `late`: it failed by not answering in time.
    """
    arguments = [call.token, round(call.lease_s * 1000), outcome, round(wait * 1000)]
    yield from Verb("breaker_report", _keys(keys, call.model), arguments, nothing)


def states(keys: Keys, names: Sequence[str]) -> Steps[dict[str, BreakerState]]:
    """How each model's breaker stands by the server's clock; changes nothing."""
    reads = by_name(names, lambda name: as_fields("HMGET", keys.breaker(safe_name(name)), *_FIELDS))
    now, found = yield from batch(server_ms(), reads, atomic=False)
    return {name: _state(now, *(float(value or 0) for value in fields)) for name, fields in found.items()}


def _keys(keys: Keys, model: str) -> list[str]:
    name = safe_name(model)
    return [keys.breaker(name), keys.holders(name)]


def _state(now: int, busy: float, until: float, failures: float, room: float, cut: float) -> BreakerState:
    held = cut <= now < cut + _LONGEST_MS
    word: Word = "busy" if now < busy <= now + _LONGEST_MS else "open" if until else "held" if held else "closed"
    end = busy if word == "busy" else until
    wait = end - now if now < end <= now + _LONGEST_MS else 0.0
    return BreakerState(word, wait / 1000, int(failures), int(room) if held else 0)
