"""The breaker of each model, shared by all workers: a provider that is down is left alone, then asked by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from om_api.store.keys import safe_name
from om_api.store.steps import Batch, Steps, Verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.store.keys import Keys

Word = Literal["closed", "probe", "open", "busy"]
Outcome = Literal["answered", "failed", "busy", "none"]
_LONGEST_MS = 600_000  # no pause lasts longer, see the scripts
_FIELDS = ("busy", "until", "times", "failures")


class State(NamedTuple):
    """How a model's breaker stands: `open` it failed too often, `busy` its provider asked for a pause; `wait` seconds from now.

    `times` it opened without an answer since; `failures` since it answered last. An open one without a wait lets a probe in.
    """

    word: Word
    wait: float = 0.0
    times: int = 0
    failures: int = 0


def enter(keys: Keys, model: str, token: str, lease_s: float) -> Steps[State]:
    """Ask whether a model may be called now: `closed` yes, `probe` yes and alone, `open` and `busy` not before `wait`.

    Who may, says with the same `token` how it ended; who does not within `lease_s` is taken for dead.
    """
    word, wait = yield Verb("breaker_enter", [keys.breaker(safe_name(model))], [token, round(lease_s * 1000)])
    return State(word.decode(), wait / 1000)


def report(keys: Keys, model: str, token: str, outcome: Outcome, wait: float = 0.0) -> Steps[None]:
    """Say how a call ended; `none`: it was not made after all. `busy`: nobody is to ask for `wait` seconds."""
    yield Verb("breaker_report", [keys.breaker(safe_name(model))], [token, outcome, round(wait * 1000)])


def states(keys: Keys, names: Sequence[str]) -> Steps[dict[str, State]]:
    """How each model's breaker stands by the server's clock; changes nothing."""
    reads = [("HMGET", keys.breaker(safe_name(name)), *_FIELDS) for name in names]
    time, *found = yield Batch([("TIME",), *reads], atomic=False)
    now = int(time[0]) * 1000 + int(time[1]) // 1000
    return {
        name: _state(now, *(float(value or 0) for value in fields)) for name, fields in zip(names, found, strict=True)
    }


def _state(now: int, busy: float, until: float, times: float, failures: float) -> State:
    word: Word = "busy" if now < busy <= now + _LONGEST_MS else "open" if until else "closed"
    end = busy if word == "busy" else until
    wait = end - now if now < end <= now + _LONGEST_MS else 0.0
    return State(word, wait / 1000, int(times), int(failures))
