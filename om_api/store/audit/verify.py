"""Walking a live store for broken promises: coverage, discarded work, and the bookkeeping that both rest on."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import ArchiveError
from om_api.domain.messages import Message
from om_api.store.audit import invariants, resource_dump, two_homes
from om_api.store.audit.invariants import Breach
from om_api.store.audit.resource_dump import Part, ResourceDump
from om_api.store.driver.partitions import asked
from om_api.store.driver.replies import as_fields, as_int, command, word
from om_api.store.driver.scanning import BEGINNING, primaries, scan
from om_api.store.driver.steps import Batch, Steps, Wait, batch, by_name, each
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.memory.keys import Keys

_SLICE = 1_000  # keys of one SCAN
_LOOKS = 3
_PAUSE_S = 0.05
_FOR_EVER = -1  # as PTTL says it; -2 is a key that is gone
_GLOB = re.compile(r"([*?\[\]\\^])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class Verified(NamedTuple):
    """What was found, and in how much: resources that have a key, and messages that are still there, sources included."""

    breaches: list[Breach]
    resources: int
    messages: int


def verify(keys: Keys, count: Callable[[Message], int] | None = None) -> Steps[list[Breach]]:
    """Every breach that `examine` finds; [] when all is well, or when nothing is there."""
    return (yield from examine(keys, count)).breaches


def examine(keys: Keys, count: Callable[[Message], int] | None = None) -> Steps[Verified]:
    """Every breach of P1, P2 and the bookkeeping in a store that may be in use, and in how much was looked for them.

    Writes nothing. The key space is walked by SCAN, each resource is then read in one MULTI. What looks broken is read
    again, three times in all, and named only if it stays. `count` weighs messages that carry no tokens. Members that
    wait for adoption are no breach. A resource that cannot be read at all is a breach, and hides no other one.
    """
    walked = yield from _walk(keys)
    found, messages = list(walked.breaches), 0
    for resource in sorted(walked.resources):
        try:
            some, held = yield from _resource(keys, resource, walked.resources[resource], walked.unreadable, count)
        except UNREADABLE as error:
            found.append(Breach(resource, _unreadable(error)))
            continue
        except ArchiveError as error:
            found += (yield from two_homes.breaches(keys, resource)) or [two_homes.unread(keys.of(resource), error)]
            continue
        found += some
        messages += held.messages
    found += yield from two_homes.unknown(keys, walked.resources)
    return Verified(sorted(set(found)), len(walked.resources), messages)


class _Walked(NamedTuple):
    """What a walk over the key space met: breaches of single keys, each resource's keys, those that cannot be read."""

    breaches: list[Breach]
    resources: dict[str, set[str]]
    unreadable: set[str]


def _walk(keys: Keys) -> Steps[_Walked]:
    walked, place = _Walked([], {}, set()), BEGINNING
    nodes = yield from primaries()
    pattern = _GLOB.sub(r"\\\1", keys.prefix) + ":*"
    while True:
        met, place = yield from scan(nodes, place, "MATCH", pattern, "COUNT", _SLICE)
        names = [key.decode("utf-8", "backslashreplace") for key in met]
        found = yield from _keys(keys, names)
        walked.breaches.extend(Breach(name, what) for name, what in found)
        walked.unreadable.update(name for name, what in found if what.startswith("is a "))
        for name in names:
            if (what := resource_dump.named(keys, name)) and what.resource:
                walked.resources.setdefault(what.resource, set()).add(name)
        if place == BEGINNING:
            return walked


# -- keys --------------------------------------------------------------------------------------------------------------


def _keys(keys: Keys, names: Sequence[str]) -> Steps[list[tuple[str, str]]]:
    """What is wrong with keys whatever they hold: name, type, lifetime."""
    suspects, found = list(names), list[tuple[str, str]]()
    for look in range(_LOOKS):
        if look and suspects:
            yield from Wait(_PAUSE_S)
        found = yield from _suspicious(keys, suspects)
        suspects = [name for name, _ in found]
    return found


def _suspicious(keys: Keys, names: Sequence[str]) -> Steps[list[tuple[str, str]]]:
    looked = yield from by_name(
        names, lambda name: batch(command(word, "TYPE", name), as_int("PTTL", name)), atomic=False
    )
    judged = [(name, _wrong(keys, name, *said)) for name, said in looked.items()]
    return [(name, wrong) for name, wrong in judged if wrong]


def _wrong(keys: Keys, name: str, type_: str, ttl: int) -> str:
    """What is wrong with a key, or ''; a key that is gone is never wrong."""
    what = resource_dump.named(keys, name)
    if type_ == "none" or ttl < _FOR_EVER:
        return ""
    if what is None:
        return "is no name of ours"
    if what.kind.type not in {type_, "any"}:
        return f"is a {type_}, it must be a {what.kind.type}"
    if what.kind.expires and ttl == _FOR_EVER:
        return "has no TTL and would stay for ever"
    return "" if what.kind.expires is not False or ttl == _FOR_EVER else "is living memory and must have no TTL"


# -- resources ---------------------------------------------------------------------------------------------------------


def _resource(
    keys: Keys, resource: str, names: Iterable[str], odd: Iterable[str], count: Callable[[Message], int] | None
) -> Steps[tuple[list[Breach], ResourceDump]]:
    """A resource's breaches, those that three looks agree on but for the numbers in them; and what it holds."""
    agreed: set[tuple[str, str]] | None = None
    found: list[Breach] = []
    for look in range(_LOOKS):
        if look:
            yield from Wait(_PAUSE_S)
        held = yield from resource_dump.read(keys, resource, names, without=odd)
        if not held.settled:
            return [Breach(resource, "changes faster than it can be read: verify it again")], held
        found = [*invariants.breaches(held, count), *(yield from _unmarked(keys, held))]
        found += yield from two_homes.breaches(keys, resource)
        agreed = {_gist(breach) for breach in found if agreed is None or _gist(breach) in agreed}
        if not agreed:
            return [], held
    return [breach for breach in found if agreed and _gist(breach) in agreed], held


def _unreadable(error: Exception) -> str:
    """What to say of a resource in which something stands that no code of ours writes: nothing else of it can be judged."""
    why = (
        f"text that is not UTF-8: {error.object[:60]!r}" if isinstance(error, UnicodeDecodeError) else str(error)[:200]
    )
    return f"cannot be read, its keys hold what is not ours ({why})"


def _gist(breach: Breach) -> tuple[str, str]:
    return breach.where, _NUMBER.sub("n", breach.what)


# -- the due index -----------------------------------------------------------------------------------------------------


class _Unit(NamedTuple):
    """What is due as one: a scope, its part if it has one, its unsealed threads, where its wake stands."""

    name: str
    part: Part | None
    threads: list[str]
    wake: str


def _unmarked(keys: Keys, held: ResourceDump) -> Steps[list[Breach]]:
    """Scopes with work that a push or a worker must have marked, but that are not in the observe index."""
    units = [unit for unit in _units(held) if _works(held, unit)]
    # a client may believe in the other scope; a worker passes its mark on
    names = [[unit.name, held.resource, *(f"{held.resource}|{thread}" for thread in unit.threads)] for unit in units]

    def look() -> Batch[list[list[bytes | None]]]:
        part = keys.due_observe.of(held.resource)
        return each((as_fields("ZMSCORE", part, *alternatives) for alternatives in names), atomic=False)

    scores = yield from asked(keys.layout, look)
    unmarked = [unit for unit, found in zip(units, scores, strict=True) if all(score is None for score in found)]
    return [Breach(unit.name, f"has work to do, but is not in {keys.due_observe}") for unit in unmarked]


def _units(held: ResourceDump) -> list[_Unit]:
    threads = sorted(field[1:] for field in held.tokens if field.startswith("#") and held.leaves_memory(field[1:]))
    apart = held.scope == "thread" or (held.scope is None and any(f.startswith("*wake:") for f in held.tokens))
    if not apart:
        return [_Unit(held.resource, held.parts.get(None), threads, "*wake")]
    names = sorted({*threads, *(thread for thread in held.parts if thread is not None)})
    return [
        _Unit(f"{held.resource}|{name}", held.parts.get(name), [name] if name in threads else [], f"*wake:{name}")
        for name in names
    ]


def _works(held: ResourceDump, unit: _Unit) -> bool:
    """Whether the index must know of a scope. One that rests below its wake may be in it or not."""
    limits = _limits(unit.part)
    if "*paused" in held.tokens or not limits.get("enabled", True) or limits.get("read_only", False):
        return False
    chunks = unit.part.chunks if unit.part else []
    sealed = any(held.chunks.get(name.decode(), {}).get(b"state") == b"sealed" for name, _ in chunks)
    if sealed or (
        unit.part and any(field.startswith(b"force") and field != b"force-reflect" for field in unit.part.record)
    ):
        return True
    if chunks:
        return False  # what is ready may wait for its thread's newest messages, which only the policy can tell
    tokens = sum(invariants.whole(held.tokens.get(thread, "0")) or 0 for thread in unit.threads)
    return bool(unit.threads) and tokens >= (invariants.whole(held.tokens.get(unit.wake, "0")) or 0)


def _limits(part: Part | None) -> dict[str, Any]:
    try:
        limits = msgspec.json.decode(part.record.get(b"limits", b"{}")).get("limits", {}) if part else {}
    except (msgspec.DecodeError, AttributeError):
        return {}
    return limits if isinstance(limits, dict) else {}
