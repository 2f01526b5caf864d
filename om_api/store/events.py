"""The stream of what happened, and the counters beside it: figures, no part of any memory, written best effort.

Plain commands in one round trip, no script: nothing is decided here, and a Cluster keeps these keys in several slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.events import GAP, Event, Told, counts_of
from om_api.store.decoding import fields
from om_api.store.steps import Batch, Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.events import Wanted
    from om_api.store.keys import Keys

KEPT_S = 400 * 86_400
BEGINNING = "0-0"
_SLICE = 500
_SLICES = 20
_LARGEST = 2**64 - 1
_TOLD_S = 2 * 86_400
_MOST_EVENTS = 1_000_000  # what the setting permits
Amounts = dict[str, int]


class Caps(NamedTuple):
    """How much is kept: so many events, and so many resources that are measured apart."""

    events: int
    resources: int


def publish(keys: Keys, told: Sequence[Event], caps: Caps | None, now_ms: int) -> Steps[int]:
    """Append events, and count what they say; the server's time in Unix ms. Sent once: a lost reply may lose them.

    `now_ms` is believed to be the server's; whose resource was met first is measured for good. Without `caps`, which are the
    workers', nobody is measured, and of the events as many kept as could ever be wished for.
    """
    counted: dict[str, Amounts] = {}
    for event in told:
        amounts = counted.setdefault(event.resource, {})
        for name, amount in counts_of(event).items():
            amounts[name] = amounts.get(name, 0) + amount
    commands = [_append(keys, event, caps.events if caps else _MOST_EVENTS) for event in told]
    commands += [("EXPIRE", keys.events, KEPT_S), *_adding(keys, counted)]
    commands += _measuring(keys, counted, caps, now_ms) if caps else []
    replies = yield Batch(commands, atomic=False, writes=True, once=True)
    return _ms(replies[0])


def _append(keys: Keys, event: Event, keep: int) -> tuple[Any, ...]:
    said = {name: value for name, value in msgspec.to_builtins(event).items() if value is not None}
    return ("XADD", keys.events, "MAXLEN", "~", keep, "*", *(word for pair in said.items() for word in pair))


def add(keys: Keys, counted: Mapping[str, Mapping[str, int]]) -> Steps[None]:
    """Add amounts to the counters of resources ("": of nobody's own), and to those of all together. Sent once."""
    if commands := _adding(keys, counted):
        yield Batch(commands, atomic=False, writes=True, once=True)


def _adding(keys: Keys, counted: Mapping[str, Mapping[str, int]]) -> list[tuple[Any, ...]]:
    commands: list[tuple[Any, ...]] = []
    for resource, amounts in counted.items():
        for key in (keys.counted_by(resource), keys.counted) if resource else (keys.counted,):
            added = [("HINCRBY", key, name, amount) for name, amount in amounts.items() if amount]
            commands += [*added, ("EXPIRE", key, KEPT_S)] if added else []
    return commands


def _measuring(keys: Keys, counted: Mapping[str, Any], caps: Caps, now_ms: int) -> list[tuple[Any, ...]]:
    met = [word for resource in counted if resource for word in (now_ms, resource)]
    if not met:
        return []
    return [
        ("ZADD", keys.measured, "NX", *met),
        ("ZREMRANGEBYRANK", keys.measured, caps.resources, -1),
        ("EXPIRE", keys.measured, KEPT_S),
    ]


def meet(keys: Keys, resources: Sequence[str], caps: Caps, now_ms: int) -> Steps[None]:
    """Have resources measured to which nothing happened yet, as far as there is room. Sent once."""
    if commands := _measuring(keys, dict.fromkeys(resources[: caps.resources]), caps, now_ms):
        yield Batch(commands, atomic=False, writes=True, once=True)


def first_to_tell(keys: Keys, what: str) -> Steps[bool]:
    """Whether nobody has told this yet; whoever is first should, within two days nobody else is."""
    (won,) = yield Batch([("SET", keys.told(what), 1, "NX", "EX", _TOLD_S)], writes=True, once=True)
    return bool(won)


def counted(keys: Keys, resources: Sequence[str | None]) -> Steps[list[Amounts]]:
    """Every counter of some resources (None: of all together), in their order."""
    found: list[Amounts] = []
    for start in range(0, len(resources), _SLICE):
        names = [keys.counted if name is None else keys.counted_by(name) for name in resources[start : start + _SLICE]]
        replies = yield Batch([("HGETALL", name) for name in names], atomic=False)
        found += [{name.decode(): int(value) for name, value in fields(reply).items()} for reply in replies]
    return found


def measured(keys: Keys) -> Steps[list[str]]:
    """The resources that are measured apart, the first that was met first."""
    (names,) = yield Batch([("ZRANGE", keys.measured, 0, -1)])
    return [name.decode() for name in names]


def newest(keys: Keys, wanted: Wanted, count: int) -> Steps[Told]:
    """The newest wanted events, `count` at most, oldest first; looked for among the newest 10,000 of all kinds."""
    found: list[Event] = []
    before, last = "+", ""
    for _ in range(_SLICES):
        (reply,) = yield Batch([("XREVRANGE", keys.events, before, "-", "COUNT", _SLICE)])
        ids = [_text(name) for name, _ in reply]
        last = last or (ids[0] if ids else BEGINNING)
        found += [event for event in _read(reply) if event and wanted.takes(event)]
        if len(ids) < _SLICE or len(found) >= count:
            break
        before = f"({ids[-1]}"
    return Told(found[:count][::-1], last)


def since(keys: Keys, after: str, wanted: Wanted, count: int) -> Steps[Told]:
    """The wanted events behind an id, oldest first, `count` at most, of the next 10,000 of all kinds.

    A `gap` leads where that id is no longer kept: what stood behind it may be gone.
    """
    place, found = after, list[Event]()
    for _ in range(_SLICES):
        oldest, latest, reply = yield Batch(
            [
                ("XRANGE", keys.events, "-", "+", "COUNT", 1),
                ("XREVRANGE", keys.events, "+", "-", "COUNT", 1),
                ("XRANGE", keys.events, f"({place}", "+", "COUNT", _SLICE),
            ]
        )
        if (cut := _cut(place, oldest, latest)) is not None:
            place, found = cut, [*found, Event(kind=GAP, id=cut, at=_ms(cut))]
            continue
        for (name, _), event in zip(reply, _read(reply), strict=True):
            if len(found) >= count:
                return Told(found, place)
            place = _text(name)
            found += [event] if event and wanted.takes(event) else []
        if len(reply) < _SLICE:
            break
    return Told(found, place)


def wait(keys: Keys, after: str, seconds: float) -> Steps[None]:
    """Return when there is an event behind an id, at the latest after `seconds`. Keeps one connection busy until then."""
    yield Batch([("XREAD", "COUNT", 1, "BLOCK", max(1, round(seconds * 1000)), "STREAMS", keys.events, after)])


def _cut(place: str, oldest: Sequence[Any], latest: Sequence[Any]) -> str | None:
    """Where to go on if what stood behind a place may be gone: it was cut off, or the stream began anew. None if not."""
    if place == BEGINNING:
        return None
    if not oldest:
        return BEGINNING
    first, last = _before(_text(oldest[0][0])), _text(latest[0][0])
    return None if _pair(first) <= _pair(place) <= _pair(last) else first


def _pair(name: str) -> tuple[int, int]:
    ms, _, number = name.partition("-")
    return int(ms), int(number or 0)


def _before(name: str) -> str:
    ms, number = _pair(name)
    return f"{ms}-{number - 1}" if number else f"{ms - 1}-{_LARGEST}"


def _ms(name: Any) -> int:
    return _pair(_text(name))[0]


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)


def _read(reply: Sequence[Any]) -> list[Event | None]:
    return [_event(_text(name), said) for name, said in reply]


def _event(name: str, said: Any) -> Event | None:
    """An entry as an event; None for what is none of ours."""
    try:
        words = {key.decode(): value.decode() for key, value in fields(said).items()}
        return msgspec.convert({**words, "id": name, "at": _ms(name)}, Event, strict=False)
    except (msgspec.ValidationError, UnicodeDecodeError):
        return None
