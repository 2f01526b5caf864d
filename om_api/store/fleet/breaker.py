"""The breakers of each model, shared by all workers: a provider that is down is left alone, one that refuses is asked less.

Each agent has a breaker of a model too. What fails or is refused for one agent alone (its instruction, its long requests)
opens that one, or limits that agent's calls.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from om_api.store.driver.replies import as_fields, nothing, server_ms
from om_api.store.driver.steps import Steps, Verb, batch, by_name
from om_api.store.memory.keys import Keys, safe_name

Word = Literal["closed", "probe", "full", "open", "busy", "held", "partial"]
Outcome = Literal["answered", "failed", "late", "busy", "none"]
_LONGEST_MS = 600_000  # no pause lasts longer, see the scripts
_FIELDS = ("busy", "until", "failures", "room", "cut", "alone", "alone_until", "refused", "refused_at")


class BreakerState(NamedTuple):
    """How a model's breaker stands: `open` it failed too often, `busy` its provider refuses everything; `wait` seconds from now.

    `held`: its provider refused some calls lately, so that no more than `room` are in flight; with a room of 0, only calls of
    `agent` were refused and are limited. `partial`: it failed too often for `agent`, or refused all of its calls, and only
    `agent` waits. `failures` since it answered last. An open one without a wait lets a probe in.
    """

    word: Word
    wait: float = 0.0
    failures: int = 0
    room: int = 0
    agent: str = ""


class Attempt(NamedTuple):
    """One call of a model: whoever makes it says so by the same `token`, and is taken for dead after `lease_s`.

    `resource` is the agent that it is made for; "" is a call for no agent.
    """

    model: str
    token: str
    lease_s: float
    resource: str = ""


def enter(keys: Keys, call: Attempt, most: int | None = None) -> Steps[BreakerState]:
    """Ask whether a call may be made now, and take one of `most` places for it; None is any number.

    `closed` yes, `probe` yes and alone, `full` when another call has ended, `open` and `busy` not before `wait`. Whoever may
    says with `report` how it ended.
    """
    arguments = [call.token, round(call.lease_s * 1000), "" if most is None else most, call.resource]
    return (yield from Verb("breaker_enter", _keys(keys, call), arguments, _entered))


def _entered(reply: Any) -> BreakerState:
    word, wait = reply
    return BreakerState(word.decode(), wait / 1000)


def report(keys: Keys, call: Attempt, outcome: Outcome, wait: float = 0.0) -> Steps[None]:
    """Give the call's place back and say how it ended; `none`: it was not made after all.

    `busy`: its provider refused it and asked for `wait` seconds. `late`: it failed by not answering in time.
    """
    arguments = [call.token, round(call.lease_s * 1000), outcome, round(wait * 1000), call.resource]
    yield from Verb("breaker_report", _keys(keys, call), arguments, nothing)


def states(keys: Keys, names: Sequence[str], resource: str | None = None) -> Steps[dict[str, BreakerState]]:
    """How each model's breaker stands by the server's clock, for all or for one resource; changes nothing."""
    reads = by_name(names, lambda name: as_fields("HMGET", keys.breaker(safe_name(name)), *_FIELDS))
    own = by_name(
        [] if resource is None else names,
        lambda name: as_fields("HMGET", keys.breaker(safe_name(name), resource), *_FIELDS),
    )
    now, found, alone = yield from batch(server_ms(), reads, own, atomic=False)
    every = {name: _state(now, fields) for name, fields in found.items()}
    return every | {
        name: state
        for name, fields in alone.items()
        if (state := _state(now, fields)).word != "closed" and every[name].word not in {"busy", "open"}
    }


def _keys(keys: Keys, call: Attempt) -> list[str]:
    name = safe_name(call.model)
    agent = call.resource
    return [keys.breaker(name), keys.holders(name), keys.breaker(name, agent), keys.holders(name, agent)]


def _state(now: int, fields: Sequence[bytes | None]) -> BreakerState:
    numbers = (*fields[:5], fields[6], fields[8])
    busy, until, failures, room, cut, alone_until, refused_at = (float(value or 0) for value in numbers)
    if _is_ahead(now, busy):
        return BreakerState("busy", (busy - now) / 1000, int(failures))
    if until:
        return BreakerState("open", (until - now) / 1000 if _is_ahead(now, until) else 0.0, int(failures))
    if _is_ahead(now, alone_until):
        return BreakerState("partial", (alone_until - now) / 1000, int(failures), agent=(fields[5] or b"").decode())
    if cut <= now < cut + _LONGEST_MS:
        return BreakerState("held", 0.0, int(failures), int(room))
    if refused_at <= now < refused_at + _LONGEST_MS:
        return BreakerState("held", 0.0, int(failures), agent=(fields[7] or b"").decode())
    return BreakerState("closed", 0.0, int(failures))


def _is_ahead(now: int, end: float) -> bool:
    """Whether a pause goes on; one longer than any was begun before the server's clock was set back."""
    return now < end <= now + _LONGEST_MS
