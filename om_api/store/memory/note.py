"""What is written down of a memory beside its content: what a look decided, and since when it rests."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.domain.values import Outcome, Scope
from om_api.store.driver.replies import number
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory.keys import Keys


class Decided(NamedTuple):
    """What a look decided besides its move; see lua/note.lua."""

    limits: str
    wake_field: str
    wake: int
    drain: float | None = None
    forced: Sequence[tuple[str, str, str]] = ()


def note(keys: Keys, scope: Scope, epoch: str, what: Decided) -> Steps[Outcome]:
    """Write down what a look decided, unless the memory is another than the one that was looked at."""
    of = keys.of(scope.resource)
    drain = "" if what.drain is None else exact(what.drain)
    args = [epoch, what.limits, drain, what.wake_field, what.wake, *(word for triple in what.forced for word in triple)]
    return (yield from Verb("note", [of.record(scope), of.tokens], args, _noted))


def _noted(reply: Any) -> Outcome:
    return Outcome.REST if reply[0] == b"noted" else Outcome.SUPERSEDED


def read_for(keys: Keys, scope: Scope, thread: str, epoch: str, model: str) -> Steps[Outcome]:
    """Note for which of the Actor's models a thread is read from now on, where its memory is this one still and has it."""
    of = keys.of(scope.resource)
    found = [of.record(scope), of.threads, of.thread(thread)]
    return (yield from Verb("read_for", found, [epoch, thread, model], _told))


def _told(reply: Any) -> Outcome:
    return Outcome.REST if reply == b"noted" else Outcome.SUPERSEDED


def stir(keys: Keys, scope: Scope, fingerprint: str) -> Steps[int]:
    """Note that a memory looks like `fingerprint` now; for how many ms of the server's it has."""
    of = keys.of(scope.resource)
    return (yield from Verb("stir", [of.record(scope), of.tokens], [fingerprint], number))
