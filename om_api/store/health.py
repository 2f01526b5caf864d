"""Reading what tells whether a system is well: the server, its limits, who works, what waits. Changes no memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import StoreError
from om_api.store import due, presence
from om_api.store.presence import Ticked, Worker
from om_api.store.spoilt import of_each
from om_api.store.steps import Batch, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from om_api.store.keys import Keys

QUEUES = ("ticks", "observe", "reflect", "maintenance")
TICKS = ("observer", "reflector", "sweep")
_SLICE = 500
_PROBE_MS = 1_000


class Waiting(NamedTuple):
    """A due index: how many scopes are due by now, and for how long (ms) the first of them has been."""

    what: str
    due: int
    longest: int


class Standing(NamedTuple):
    """What operations ask of one resource; `scope` is None while nothing was ever sealed; a `broken` one cannot be read."""

    resource: str
    scope: str | None
    rejected: int
    paused: bool
    broken: bool = False


def clocks() -> Steps[presence.Clocks]:
    """Reach the server and compare clocks; raises StoreError when it cannot be reached."""
    return (yield from presence.clocks())


def probe(keys: Keys) -> Steps[StoreError | None]:
    """Write one small key, which is gone a second later; the refusal, when the server takes no writes from us."""
    try:
        yield Batch([("SET", keys.probe, 1, "PX", _PROBE_MS)], writes=True)
    except StoreError as error:
        return error
    return None


def info() -> Steps[dict[str, str] | None]:
    """What INFO says; None when it may not be asked. A managed server may leave fields out."""
    try:
        (reply,) = yield Batch([("INFO",)])
    except StoreError:
        return None
    return _fields(reply)


def _fields(reply: Any) -> dict[str, str]:
    if isinstance(reply, dict):  # redis-py has read it
        return {str(name): str(value) for name, value in reply.items()}
    lines = (reply.decode("utf-8", "replace") if isinstance(reply, bytes) else str(reply)).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def configured(name: str) -> Steps[str | None]:
    """What CONFIG GET says of one directive; None when it may not be asked."""
    try:
        (reply,) = yield Batch([("CONFIG GET", name)])
    except StoreError:
        return None
    values = list(reply.values()) if isinstance(reply, dict) else reply[1:]
    found = values[0] if values else None
    return found.decode() if isinstance(found, bytes) else found


def workers(keys: Keys, within_ms: int = presence.LIVES_MS) -> Steps[list[Worker]]:
    """The worker processes that live, by name: those that said so within the last `within_ms`."""
    since = (yield from due.server_ms()) + presence.LIVES_MS - within_ms
    (names,) = yield Batch([("ZRANGE", keys.workers, since, "+inf", "BYSCORE")])
    if not names:
        return []
    replies = yield Batch([("GET", keys.worker(name.decode("utf-8", "replace"))) for name in names], atomic=False)
    found = [_read(reply, Worker) for reply in replies if reply]
    return sorted((each for each in found if each), key=lambda worker: worker.name)


def ticks(keys: Keys) -> Steps[dict[str, Ticked | None]]:
    """When each tick ran last; None for one that has not for a day."""
    replies = yield Batch([("GET", keys.ticked(name)) for name in TICKS], atomic=False)
    return {name: _read(reply, Ticked) if reply else None for name, reply in zip(TICKS, replies, strict=True)}


def _read(reply: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(reply, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):  # of a later version, or of nobody's
        return None


def waiting(keys: Keys) -> Steps[list[Waiting]]:
    """How long the due indexes have waited.

    An urgent scope is written an hour ahead of the time it came due, so what stands in the last hour is plain, and what
    stands before it has waited since an hour after its score at least.
    """
    now, found = (yield from due.server_ms()), list[Waiting]()
    for what, key in (("observe", keys.due_observe), ("reflect", keys.due_reflect)):
        hour = now - due.URGENT_MS
        commands = [
            ("ZCOUNT", key, "-inf", now),
            ("ZRANGE", key, "(-inf", hour, "BYSCORE", "LIMIT", 0, 1, "WITHSCORES"),  # -inf itself is no time
            ("ZRANGE", key, f"({hour}", now, "BYSCORE", "LIMIT", 0, 1, "WITHSCORES"),
        ]
        count, urgent, plain = yield Batch(commands, atomic=False)
        ages = [hour - score for score in _scores(urgent)] + [now - score for score in _scores(plain)]
        found.append(Waiting(what, int(count), max(ages, default=0)))
    return found


def indexed(keys: Keys) -> Steps[list[tuple[Waiting, int]]]:
    """The same of each due index, and how many scopes are in it, due or not."""
    found = yield from waiting(keys)
    sizes = yield Batch([("ZCARD", keys.due_observe), ("ZCARD", keys.due_reflect)], atomic=False)
    return list(zip(found, map(int, sizes), strict=True))


def _scores(reply: Sequence[Any]) -> Iterator[int]:
    if reply:
        first = reply[0]
        yield int(float(first[1] if isinstance(first, list | tuple) else reply[1]))


def queues() -> Steps[dict[str, int]]:
    """How many tasks wait in each queue of a broker that is a Redis."""
    replies = yield Batch([("LLEN", name) for name in QUEUES], atomic=False)
    return {name: int(reply) for name, reply in zip(QUEUES, replies, strict=True)}


def unacked() -> Steps[int]:
    """How many tasks were taken off the queues and not begun, in a broker that is a Redis."""
    (reply,) = yield Batch([("HLEN", "unacked")])
    return int(reply)


def standings(keys: Keys) -> Steps[list[Standing]]:
    """What operations ask of every resource that workers have met, and of the one that stands for nobody's."""
    (listed,) = yield Batch([("ZRANGE", keys.resources, 0, -1)])
    names = sorted({*(name.decode() for name in listed), "unknown"})
    found: dict[str, Standing] = {}
    for start in range(0, len(names), _SLICE):
        found |= yield from of_each(partial(_some, keys), names[start : start + _SLICE])
    return [found.get(name) or Standing(name, None, 0, paused=False, broken=True) for name in names]


def _some(keys: Keys, names: Sequence[str]) -> Steps[dict[str, Standing]]:
    ofs = [keys.of(name) for name in names]
    asked = [[("GET", of.scope), ("LLEN", of.rejected), ("HEXISTS", of.tokens, "*paused")] for of in ofs]
    replies = yield Batch([command for each in asked for command in each], atomic=False)
    triples = zip(names, replies[::3], replies[1::3], replies[2::3], strict=True)
    return {
        name: Standing(name, scope.decode() if scope else None, int(count), bool(paused))
        for name, scope, count, paused in triples
    }
