"""The stream of what was operated, bounded in number and in time whenever it grows. Not best effort: whoever adds is told."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.audit.audit_query import AuditPage, AuditQuery
from om_api.domain.errors import StoreError
from om_api.store.driver.replies import command, fields, nothing, number, word, write
from om_api.store.driver.steps import Batch, Steps, Verb
from om_api.store.memory.keys import Keys

BEGINNING = "0-0"
WITHIN_S = 3_600
REFUSALS = 60  # entries of one key within that time: a key that is always refused pushes no other entry out
_SLICE = 500
_SLICES = 20
_OURS = ("id", "at")  # said by the entry's name


class AuditLimits(NamedTuple):
    """How much is kept: about so many entries, and none that is older."""

    kept: int
    retention_s: float


def add(keys: Keys, entry: AuditEntry, limits: AuditLimits, most: int | None = None) -> Steps[str]:
    """Append an entry and return its id. Sent once: a lost reply may lose it.

    Returns "" for an entry beyond the refusals of one key within an hour, or beyond `most` entries of the same key and verb.
    Raises InvalidInputError for a verb that there is not.
    """
    told = entry.checked()
    kind, most = ("refused", REFUSALS) if told.outcome == "refused" else (told.did, most)
    if most is not None and (yield from _too_many(keys, f"{kind}:{told.who}", most)):
        return ""
    words = [word for pair in _said(told).items() for word in pair]
    commands = [
        ("XADD", keys.audit, "MAXLEN", "~", limits.kept, "*", *words),
        ("EXPIRE", keys.audit, round(limits.retention_s)),
    ]
    name = yield from Batch(commands, lambda replies: word(next(replies)), atomic=False, writes=True, once=True)
    with suppress(StoreError):  # it is told; what is too old goes with the next one
        oldest = max(0, _ms(name) - round(limits.retention_s * 1_000))
        yield from write(("XTRIM", keys.audit, "MINID", oldest), once=True)
    return name


def _said(entry: AuditEntry) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(entry).items() if name not in _OURS}


def _too_many(keys: Keys, name: str, most: int) -> Steps[bool]:
    return bool((yield from Verb("pace", [keys.paced(name)], [most, WITHIN_S * 1_000], number)))


def older(keys: Keys, before: str, query: AuditQuery, count: int) -> Steps[AuditPage]:
    """The newest wanted entries before an id ("": of all), `count` at most, of the next 10,000 of all kinds."""
    found, place, latest = list[AuditEntry](), f"({before}" if before else "+", ""
    for _ in range(_SLICES):
        some = yield from command(_entries, "XREVRANGE", keys.audit, place, query.since or "-", "COUNT", _SLICE)
        latest = latest or (some[0].id if some else f"{query.since}-0")
        for name, entry in some:
            found += [entry] if entry and query.takes(entry) else []
            if len(found) == count:
                return AuditPage(found, name, latest)
        if len(some) < _SLICE:
            return AuditPage(found, "", latest)
        place = f"({some[-1].id}"
    return AuditPage(found, place[1:], latest)


def newer(keys: Keys, after: str, query: AuditQuery) -> Steps[AuditPage]:
    """The wanted entries among the next 500 behind an id, the oldest first, and the id behind all of these as `after`."""
    some = yield from command(_entries, "XRANGE", keys.audit, f"({after}", "+", "COUNT", _SLICE)
    found = [entry for _, entry in some if entry and query.takes(entry)]
    return AuditPage(found, "", some[-1].id if some else after)


def wait(keys: Keys, after: str, seconds: float) -> Steps[None]:
    """Return when there is an entry behind an id, at the latest after `seconds`. Keeps one connection busy until then."""
    ms = max(1, round(seconds * 1_000))
    yield from command(nothing, "XREAD", "COUNT", 1, "BLOCK", ms, "STREAMS", keys.audit, after)


class _Kept(NamedTuple):
    """An entry as the stream holds it; None where it is none of ours."""

    id: str
    entry: AuditEntry | None


def _entries(reply: Any) -> Sequence[_Kept]:
    return [_Kept(name := word(named), _entry(name, said)) for named, said in reply]


def _entry(name: str, said: Any) -> AuditEntry | None:
    try:
        words = {key.decode(): value.decode() for key, value in fields(said).items()}
        return msgspec.convert({**words, "id": name, "at": _ms(name)}, AuditEntry, strict=False).checked()
    except (msgspec.ValidationError, UnicodeDecodeError, ValueError):
        return None


def _ms(name: str) -> int:
    return int(name.partition("-")[0])
