"""The stream of what happened, and the counters beside it: figures, no part of any memory, written best effort.

Plain commands in one round trip, no script: nothing is decided here, and a Cluster keeps these keys in several slots.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.events import GAP, Event, Told, Wanted, counts_of
from om_api.store.driver.partitions import sure
from om_api.store.driver.replies import as_bool, as_hash, as_pairs, command, fields, nothing, write
from om_api.store.driver.steps import Batch, Steps, batch, each
from om_api.store.memory.keys import Keys

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
    yield from sure(keys.layout)
    counted = defaultdict[str, Counter[str]](Counter)
    for event in told:
        counted[event.resource].update(counts_of(event))
    commands = [_append(keys, event, caps.events if caps else _MOST_EVENTS) for event in told]
    commands += [("EXPIRE", keys.events, KEPT_S), *_adding(keys, counted)]
    commands += _measuring(keys, counted, caps, now_ms) if caps else []
    return (yield from Batch(commands, lambda replies: _ms(next(replies)), atomic=False, writes=True, once=True))


def _append(keys: Keys, event: Event, keep: int) -> tuple[Any, ...]:
    said = {name: value for name, value in msgspec.to_builtins(event).items() if value is not None}
    return ("XADD", keys.events, "MAXLEN", "~", keep, "*", *(word for pair in said.items() for word in pair))


def add(keys: Keys, counted: Mapping[str, Mapping[str, int]]) -> Steps[None]:
    """Add amounts to the counters of resources ("": of nobody's own), and to those of all together. Sent once."""
    yield from sure(keys.layout)
    yield from write(*_adding(keys, counted), atomic=False, once=True)


def _adding(keys: Keys, counted: Mapping[str, Mapping[str, int]]) -> list[tuple[Any, ...]]:
    commands: list[tuple[Any, ...]] = []
    for resource, amounts in counted.items():
        for key in (keys.counted_by(resource), keys.counted.of(resource)) if resource else (keys.counted.of(""),):
            added = [("HINCRBY", key, name, amount) for name, amount in amounts.items() if amount]
            commands += [*added, ("EXPIRE", key, KEPT_S)] if added else []
    return commands


def _measuring(keys: Keys, counted: Mapping[str, Any], caps: Caps, now_ms: int) -> list[tuple[Any, ...]]:
    commands: list[tuple[Any, ...]] = []
    for part, names in keys.measured.by_part(filter(None, counted)).items():
        commands += [
            ("ZADD", part, "NX", *(word for name in names for word in (now_ms, name))),
            ("ZREMRANGEBYRANK", part, caps.resources, -1),
            ("EXPIRE", part, KEPT_S),
        ]
    return commands


def meet(keys: Keys, resources: Sequence[str], caps: Caps, now_ms: int) -> Steps[None]:
    """Have resources measured to which nothing happened yet, as far as there is room. Sent once."""
    yield from sure(keys.layout)
    commands = _measuring(keys, dict.fromkeys(resources[: caps.resources]), caps, now_ms)
    yield from write(*commands, atomic=False, once=True)


def first_to_tell(keys: Keys, what: str) -> Steps[bool]:
    """Whether nobody has told this yet; whoever is first should, within two days nobody else is."""
    return (yield from as_bool("SET", keys.told(what), 1, "NX", "EX", _TOLD_S).writing(once=True))


def note_ahead(keys: Keys, resource: str, messages: int, ahead_ms: int) -> Steps[Event | None]:
    """Count messages dated ahead of the server; the event to publish, at most one an agent and hour."""
    yield from add(keys, {resource: {"ahead": messages}})
    if not (yield from first_to_tell(keys, f"clock_ahead:{int(time.time()) // 3_600}:{resource}")):
        return None
    return Event(kind="clock_ahead", resource=resource, messages=messages, seconds=round(ahead_ms / 1000, 3))


def counted(keys: Keys, resources: Sequence[str | None]) -> Steps[list[Amounts]]:
    """Every counter of some resources (None: of all together), in their order."""
    yield from sure(keys.layout)
    found: list[Amounts] = []
    for start in range(0, len(resources), _SLICE):
        some = (_counted(keys, name) for name in resources[start : start + _SLICE])
        found += yield from each(some, atomic=False)
    return found


def _counted(keys: Keys, resource: str | None) -> Batch[Amounts]:
    names = keys.counted.every() if resource is None else [keys.counted_by(resource)]
    return each((as_hash("HGETALL", name) for name in names), atomic=False).then(_added_up)


def _added_up(kept: Sequence[Mapping[bytes, bytes]]) -> Amounts:
    found = Counter[str]()
    for amounts in kept:
        found.update({name.decode(): int(value) for name, value in amounts.items()})
    return dict(found)


def measured(keys: Keys, most: int) -> Steps[list[str]]:
    """The resources that are measured apart, `most` of them, the first that was met first."""
    yield from sure(keys.layout)
    parts = (as_pairs("ZRANGE", part, 0, most - 1, "WITHSCORES") for part in keys.measured.every())
    found = yield from each(parts, atomic=False)
    met = sorted((at, name) for pairs in found for name, at in pairs)
    return [name.decode("utf-8", "replace") for _, name in met[:most]]


def newest(keys: Keys, wanted: Wanted, count: int) -> Steps[Told]:
    """The newest wanted events, `count` at most, oldest first; looked for among the newest 10,000 of all kinds."""
    found: list[Event] = []
    before, last = "+", ""
    for _ in range(_SLICES):
        entries = yield from command(_entries, "XREVRANGE", keys.events, before, "-", "COUNT", _SLICE)
        last = last or (entries[0].id if entries else BEGINNING)
        found += [entry.event for entry in entries if entry.event and wanted.takes(entry.event)]
        if len(entries) < _SLICE or len(found) >= count:
            break
        before = f"({entries[-1].id}"
    return Told(found[:count][::-1], last)


def since(keys: Keys, after: str, wanted: Wanted, count: int) -> Steps[Told]:
    """The wanted events behind an id, oldest first, `count` at most, of the next 10,000 of all kinds.

    A `gap` leads where that id is no longer kept: what stood behind it may be gone.
    """
    place, found = after, list[Event]()
    for _ in range(_SLICES):
        oldest, latest, entries = yield from batch(
            command(_entries, "XRANGE", keys.events, "-", "+", "COUNT", 1),
            command(_entries, "XREVRANGE", keys.events, "+", "-", "COUNT", 1),
            command(_entries, "XRANGE", keys.events, f"({place}", "+", "COUNT", _SLICE),
        )
        if (cut := _cut(place, oldest, latest)) is not None:
            place, found = cut, [*found, Event(kind=GAP, id=cut, at=_ms(cut))]
            continue
        for name, event in entries:
            if len(found) >= count:
                return Told(found, place)
            place = name
            found += [event] if event and wanted.takes(event) else []
        if len(entries) < _SLICE:
            break
    return Told(found, place)


def end(keys: Keys) -> Steps[str]:
    """The id of the newest event of all, behind which those stand that are still to come."""
    entries = yield from command(_entries, "XREVRANGE", keys.events, "+", "-", "COUNT", 1)
    return entries[0].id if entries else BEGINNING


def wait(keys: Keys, after: str, seconds: float) -> Steps[None]:
    """Return when there is an event behind an id, at the latest after `seconds`. Keeps one connection busy until then."""
    ms = max(1, round(seconds * 1000))
    yield from command(nothing, "XREAD", "COUNT", 1, "BLOCK", ms, "STREAMS", keys.events, after)


def _cut(place: str, oldest: "Sequence[_Entry]", latest: "Sequence[_Entry]") -> str | None:
    """Where to go on if what stood behind a place may be gone: it was cut off, or the stream began anew. None if not."""
    if place == BEGINNING:
        return None
    if not oldest:
        return BEGINNING
    first, last = _before(oldest[0].id), latest[0].id
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


class _Entry(NamedTuple):
    """An entry of the stream; the event is None if it is none of ours."""

    id: str
    event: Event | None


def _entries(reply: Any) -> list[_Entry]:
    return [_Entry(name := _text(named), _event(name, said)) for named, said in reply]


def _event(name: str, said: Any) -> Event | None:
    try:
        words = {key.decode(): value.decode() for key, value in fields(said).items()}
        return msgspec.convert({**words, "id": name, "at": _ms(name)}, Event, strict=False)
    except (msgspec.ValidationError, UnicodeDecodeError):
        return None
