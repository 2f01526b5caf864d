"""Redacting what a memory holds already: wherever it stands, each key in one step, and covered as it was before."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import StoreError
from om_api.domain.identity import GOES_ON, KnownId
from om_api.domain.messages import Message
from om_api.domain.values import Outcome, Scope, new_id
from om_api.redaction.records import entry, field, note
from om_api.redaction.redactor import Redactions, Redactor
from om_api.store.backup.exporting import ExportSnapshot, snapshot
from om_api.store.driver.replies import Pair, as_bytes, as_pairs, says
from om_api.store.driver.steps import Steps, Verb, by_name
from om_api.store.erasing import redacted
from om_api.store.memory.decoding import message_of
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.known import recognise

_TRIES = 5
_AT_ONCE = 200  # members of a key in one step
_Clean = Callable[[bytes], bytes]


class OldText(msgspec.Struct, frozen=True):
    """What was redacted of a memory, or would be: how often by kind, and in how many places of each tier."""

    outcome: Outcome
    kinds: dict[str, int]
    places: dict[str, int]


class _OldPlace(NamedTuple):
    """A key as it was read: of which tier, what is in it (of a hash names and values), and the thread of its messages."""

    tier: str
    key: str
    held: list[bytes]
    clean: _Clean
    scope: Scope
    thread: str = ""
    segment: str = ""
    scores: Mapping[bytes, float] = {}


def redact(keys: Keys, resource: str, redactor: Redactor, *, dry_run: bool = False) -> Steps[OldText]:
    """Replace what is found in every tier, or with `dry_run` tell what would be; whoever dies on the way does it again.

    Raises StoreError where the memory changes faster than it can be read.
    """
    places, kinds = Counter[str](), Counter[str]()
    for _ in range(_TRIES):
        told = Redactions()
        found = yield from _places(keys, resource, partial(_cleaner, redactor, told))
        changes = [(place, some) for place in found if (some := _changes(place))]
        if dry_run:
            return _told(told.counts, Counter(place.tier for place, some in changes for _ in some), Outcome.REST)
        yield from redacted.keep(keys, resource, told)
        kinds.update(told.counts if not kinds else {})
        left = 0
        for place, some in changes:
            done = yield from _write(keys, place, some)
            places[place.tier] += done
            left += len(some) - done
        if not left:
            return _told(kinds, places, Outcome.CLEARED if places.total() else Outcome.REST)
    raise StoreError(f"{resource} changes faster than it can be redacted: repeat, which is safe.", stored=None)


def texts(keys: Keys, resource: str) -> Steps[list[bytes]]:
    """All that stands in a memory; of hashes a field's name and value, by lines."""
    found = yield from _places(keys, resource, lambda _: bytes)
    return [each for place in found for each in place.held]


def _told(kinds: Counter[str], places: Counter[str], outcome: Outcome) -> OldText:
    return OldText(outcome, dict(sorted(kinds.items())), {name: n for name, n in sorted(places.items()) if n})


def _cleaner(redactor: Redactor, told: Redactions, what: str) -> _Clean:
    """How a member of a tier is redacted."""
    if what == "messages":
        return lambda text: redactor.member(text, told)
    if what == "rejected":
        return lambda text: entry(text, redactor, told)
    if what == "notes":
        return lambda text: note(text, redactor, told)

    def clean(text: bytes) -> bytes:
        name, _, value = text.partition(b"\n")
        return field(name.decode("utf-8", "replace"), value, redactor, told)

    return clean


def _changes(place: _OldPlace) -> list[tuple[bytes, bytes]]:
    """What changes in a key; of a hash, by the field's name and value what the value becomes."""
    pairs = ((each, place.clean(each)) for each in place.held)
    of_hash = place.tier in {"fields", "chunks"}
    return [(was, becomes) for was, becomes in pairs if becomes != (was.partition(b"\n")[2] if of_hash else was)]


def _places(keys: Keys, resource: str, cleaner: Callable[[str], _Clean]) -> Steps[list[_OldPlace]]:
    found = yield from snapshot(keys, resource)
    of, places = found.of, list(_living(found, cleaner))
    sources = {each.observation: each.thread for each in found.sources()}
    behind = yield from by_name(sources, lambda name: as_pairs("ZRANGE", of.source(name), 0, -1, "WITHSCORES"))
    for name, pairs in behind.items():
        places.append(_messages(of, "sources", of.source(name), pairs, sources[name], name, found, cleaner))
    drafts = yield from by_name(found.scopes, lambda scope: as_bytes("GET", of.draft(scope)))
    clean = cleaner("notes")
    places += [_OldPlace("drafts", of.draft(scope), [text], clean, scope) for scope, text in drafts.items() if text]
    return places


def _living(found: ExportSnapshot, cleaner: Callable[[str], _Clean]) -> Iterator[_OldPlace]:
    of, notes, fields = found.of, cleaner("notes"), cleaner("fields")
    whole = Scope(found.resource)
    for scope in found.scopes:
        yield _OldPlace("fields", of.record(scope), _listed(found.hash(of.record(scope))), fields, scope)
        for tier, key in (("observations", of.observations(scope)), ("generations", of.reflections(scope))):
            yield _OldPlace(tier, key, [member for member, _ in found.members(key)], notes, scope)
        for key in (of.reflected(scope, n) for n in found.histories(scope)):
            yield _OldPlace("observations", key, [member for member, _ in found.members(key)], notes, scope)
        for chunk in (member.decode() for member, _ in found.members(of.chunks(scope))):
            held = found.hash(of.chunk(chunk))
            yield _OldPlace("chunks", of.chunk(chunk), _listed(held), fields, scope)
            thread = held.get(b"thread", b"").decode()
            pairs = found.members(of.sealed(chunk))
            yield _messages(of, "sealed", of.sealed(chunk), pairs, thread, chunk, found, cleaner)
    for thread in found.threads:
        yield _OldPlace("fields", of.thread(thread), _listed(found.hash(of.thread(thread))), fields, whole)
        key = of.messages(thread)
        yield _messages(of, "messages", key, found.members(key), thread, "", found, cleaner)
    yield _OldPlace("fields", of.working, _listed(found.hash(of.working)), fields, whole)
    yield _OldPlace("rejected", of.rejected, found.entries(of.rejected), cleaner("rejected"), whole)


def _messages(
    of: ResourceKeys,
    tier: str,
    key: str,
    pairs: Sequence[Pair],
    thread: str,
    chunk: str,
    found: ExportSnapshot,
    cleaner: Callable[[str], _Clean],
) -> _OldPlace:
    scope = Scope(found.resource) if found.text(of.scope) != "thread" else Scope(found.resource, thread or None)
    segment = of.segment(chunk) if chunk else ""
    return _OldPlace(
        tier, key, [member for member, _ in pairs], cleaner("messages"), scope, thread, segment, dict(pairs)
    )


def _listed(held: Mapping[bytes, bytes]) -> list[bytes]:
    return [name + b"\n" + value for name, value in held.items()]


def _write(keys: Keys, place: _OldPlace, changes: Sequence[tuple[bytes, bytes]]) -> Steps[int]:
    """Write what changes in a key, some at a time; how much of it was as it was read."""
    of, done = keys.of(place.scope.resource), 0
    names = [place.key, of.known(place.thread) if place.thread else of.tokens, of.record(place.scope)]
    names.append(place.segment or of.lock("redacted"))
    for start in range(0, len(changes), _AT_ONCE):
        some = changes[start : start + _AT_ONCE]
        records = (yield from _records(keys, place, some)) if place.thread else []
        args: list[Any] = [new_id(), len(some), *_words(some), *_words(records)]
        if (yield from Verb("redact", names, args, says(b"redacted"))):
            done += len(some)
    return done


def _records(keys: Keys, place: _OldPlace, some: Iterable[tuple[bytes, bytes]]) -> Steps[list[tuple[bytes, bytes]]]:
    """The records of messages' ids, as they are and as they say what is kept now; of one that went on behind its seal, none."""
    resource, thread = place.scope.resource, place.thread
    said = {}
    for was, becomes in some:
        before, after = (message_of((text, place.scores[was]), thread, resource) for text in (was, becomes))
        if before and after:
            said[before.id] = before, after
    known = yield from recognise(keys, resource, thread, said.keys())
    return [
        (each.record, each.grown(said[name][1]).record) for name, each in known.items() if _is_of(each, said[name][0])
    ]


def _is_of(known: KnownId, message: Message) -> bool:
    return known.day != GOES_ON and known.grown(message).record == known.record


def _words(pairs: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    return [word for pair in pairs for word in pair]
