"""The quarantine: what could not be accepted or observed, to be looked at, given another chance, or dropped."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.learned import learned
from om_api.domain.values import Generation, Outcome, Scope, Stored, check_id, new_id
from om_api.domain.wire import parse_member
from om_api.store.driver.replies import (
    as_bool,
    as_bytes,
    as_fields,
    as_float,
    as_int,
    as_list,
    number,
    outcome,
)
from om_api.store.driver.steps import Steps, Verb, batch, exact
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory import due, reading
from om_api.store.memory.decoding import as_observation
from om_api.store.memory.keys import Keys
from om_api.store.memory.keyspace_scan import all_resources, hint
from om_api.store.memory.known import sealing

_TRIES = 5
_PAGE, _STEP = 1_000, 900  # pages overlap: whoever removes entries meanwhile moves the others under our hands
_PUSH_AGAIN = "push it again as a new message if it matters, then drop the entry"
MOST = 1_000  # entries of one resource
MOST_BYTES = 4 * 2**20
LONGEST = 2**53  # of a list, and of times: what every number of Redis' and of JSON's readers holds
DROPPED = "*dropped"  # the field of the tokens hash that counts what went because the quarantine was full
PLACEHOLDER = "placeholder"  # the model of an observation that stands for a message no model could observe
_RENAMED = {"surplus": "changed"}  # kinds as an older version called them
UNKNOWN = "unknown"  # the resource of members that name none


@learned
class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a resource's quarantine; `at` and `score` in Unix ms, `member` as it was written.

    `kind`: `malformed` (no message), `changed` (the message of its id says something else), `ownerless` (under a key
    of the older form, and naming no resource), `unobservable` (accepted, but no model could observe it: its placeholder is
    `observation`), `foreign` (not written by us). `utf8` is False when the member's bytes were no text and are lost.
    """

    id: str = ""
    kind: str = ""
    thread_id: str = ""
    reason: str = ""
    at: int = 0
    member: str = ""
    score: float | None = None
    observation: str = ""
    utf8: bool = True


class Quarantines(NamedTuple):
    """How many entries each resource has that has any, and whose quarantine is `broken`: its key holds what is not ours."""

    entries: dict[str, int]
    broken: list[str]


def as_rejected(entry: bytes) -> Rejected:
    """An entry as it stands in the list. Its id is a hash of its bytes, so entries of any age have one."""
    name = hashlib.sha256(entry).hexdigest()[:12]
    try:
        found = msgspec.json.decode(entry, type=Rejected)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = entry.decode("utf-8", "replace")
        return Rejected(id=name, kind="foreign", reason="this was not written by the workers", member=text)
    if not abs(found.at) < LONGEST:
        return msgspec.structs.replace(found, id=name, kind="foreign", at=0)
    if found.kind:
        return msgspec.structs.replace(found, id=name, kind=_RENAMED.get(found.kind, found.kind))
    return msgspec.structs.replace(found, id=name, kind=_older_kind(found), utf8="\ufffd" not in found.member)


def _older_kind(entry: Rejected) -> str:
    """What entries were that did not say it yet; a message that could be read was rejected because of what it says."""
    if entry.reason.startswith("a key of the older form"):
        return "ownerless"
    if entry.reason.startswith("another message with the id "):
        return "changed"
    try:
        parse_member(entry.member.encode(), entry.thread_id, UNKNOWN, entry.at)
    except (InvalidInputError, UnicodeEncodeError):
        return "malformed"
    return "unobservable"


def as_listed(listed: Sequence[bytes]) -> list[Any]:
    """What scripts know a quarantine by that must be as it was read: how many entries it had, and the last one."""
    return [len(listed), listed[-1] if listed else b""]


def is_as_listed(keys: Keys, resource: str, listed: Sequence[bytes]) -> Steps[bool]:
    """Whether a quarantine is as it was read."""
    rejected = keys.of(resource).rejected
    size, last = yield from batch(as_int("LLEN", rejected), as_bytes("LINDEX", rejected, -1))
    return [size, last or b""] == as_listed(listed)


# -- looking ------------------------------------------------------------------------------------------------------------


def entries(keys: Keys, resource: str, newest: int | None = None) -> Steps[list[Rejected]]:
    """A resource's quarantine, oldest first: the `newest` (1 or more) entries, or all."""
    most = min(newest or LONGEST, LONGEST)
    found = yield from as_list("LRANGE", keys.of(resource).rejected, -most, -1)
    return [as_rejected(entry) for entry in found]


def counts(keys: Keys) -> Steps[Quarantines]:
    """How many entries each resource has: of those that workers have met, and of `unknown`; those without are left out."""
    names = sorted({UNKNOWN, *(yield from all_resources(keys))})
    found = yield from of_many(lambda name: as_int("LLEN", keys.of(name).rejected), names)
    return Quarantines(
        {name: size for name, size in found.items() if size}, [name for name in names if name not in found]
    )


def rests(keys: Keys, resource: str) -> Steps[int]:
    """For how many ms of the server's nothing was put into a quarantine; 0 where nothing stands in it."""
    found = yield from entries(keys, resource, 1)
    return (yield from due.server_ms()) - found[0].at if found else 0


def _find(keys: Keys, resource: str, name: str) -> Steps[bytes | None]:
    start = 0
    while True:
        page = yield from as_list("LRANGE", keys.of(resource).rejected, start, start + _PAGE - 1)
        for entry in page:
            if as_rejected(entry).id == name:
                return entry
        if len(page) < _PAGE:
            return None
        start += _STEP


def trim(keys: Keys, resource: str, added: int) -> Steps[int]:
    """Have a quarantine to which entries were `added` hold no more than MOST of MOST_BYTES together; how many had to go.

    What was never accepted goes first, the oldest before the others; what no model could observe stays as long as it fits.
    """
    if not added:
        return 0
    of = keys.of(resource)
    return (yield from Verb("trim", [of.rejected, of.tokens], [added, MOST, MOST_BYTES], number))


# -- ending -------------------------------------------------------------------------------------------------------------


def drop(keys: Keys, resource: str, name: str) -> Steps[Outcome]:
    """Remove an entry, and nothing else: a placeholder goes on covering its message. `superseded` when it is gone."""
    entry = yield from _find(keys, resource, name)
    return Outcome.SUPERSEDED if entry is None else (yield from dropping(keys, resource)(entry))


def retry(keys: Keys, resource: str, name: str, configured: str) -> Steps[Outcome]:
    """Give what an entry holds another chance; the entry leaves the quarantine, and comes back if nothing has changed.

    `busy`: it is raw again and adoption will judge it. `sealed`: it will be observed again. `superseded`: the entry is
    gone. Raises InvalidInputError when there is nothing to be tried; nothing has changed then. `configured` is the scope
    while none is stored.
    """
    entry = yield from _find(keys, resource, name)
    return Outcome.SUPERSEDED if entry is None else (yield from Retrier(keys, resource, configured).retry(entry))


class EndedEntry(NamedTuple):
    """What became of an entry that was retried or dropped; `refusal` says why nothing could be tried, else it is ""."""

    id: str
    outcome: Outcome
    refusal: str = ""


class Several:
    """Entries that are ended one after the other: the list is read once for all of them, not once for each."""

    def __init__(self, keys: Keys, resource: str, names: Iterable[str], end: Callable[[bytes], Steps[Outcome]]) -> None:
        self._keys, self._resource, self._end = keys, resource, end
        self._names = deque(dict.fromkeys(names))
        self._entries: dict[str, bytes] | None = None

    def next(self) -> Steps[EndedEntry | None]:
        """End the next one; None when all are."""
        if not self._names:
            return None
        if self._entries is None:
            listed = yield from as_list("LRANGE", self._keys.of(self._resource).rejected, 0, -1)
            self._entries = {as_rejected(entry).id: entry for entry in listed}
        name = self._names.popleft()
        try:
            entry = self._entries.get(name)
            return EndedEntry(name, Outcome.SUPERSEDED if entry is None else (yield from self._end(entry)))
        except InvalidInputError as error:
            return EndedEntry(name, Outcome.REJECTED, str(error))


def dropping(keys: Keys, resource: str) -> Callable[[bytes], Steps[Outcome]]:
    """How an entry is removed, and nothing else: a placeholder goes on covering its message. `superseded` when it is gone."""

    def end(entry: bytes) -> Steps[Outcome]:
        removed = yield from as_int("LREM", keys.of(resource).rejected, 1, entry).writing()
        return Outcome.CLEARED if removed else Outcome.SUPERSEDED

    return end


class _Placeholders(NamedTuple):
    """The observations of a memory as it stood at a version: its epoch, its generation, the last seq drawn."""

    version: tuple[bytes | None, bytes | None, float]
    stored: dict[str, Stored]


class Retrier:
    """Gives entries of a resource another chance; what it has read of a memory serves it for the next one too.

    What was read may be old by then: the script finds no such placeholder, and it is read anew.
    """

    def __init__(self, keys: Keys, resource: str, configured: str) -> None:
        self._keys, self._resource, self._configured = keys, resource, configured
        self._read: dict[Scope, _Placeholders] = {}
        self._generations: dict[Scope, list[Generation]] = {}

    def retry(self, entry: bytes) -> Steps[Outcome]:
        """Try one; see `retry`."""
        found = as_rejected(entry)
        _refuse(found, self._resource)
        for _ in range(_TRIES):
            if found.kind == "unobservable":
                done = yield from self._observe_again(entry, found)
            else:
                done = yield from _judge_again(self._keys, self._resource, entry, found)
            if done is not Outcome.SUPERSEDED:
                return done
            self._read.clear()
        return Outcome.SUPERSEDED

    def _observe_again(self, entry: bytes, found: Rejected) -> Steps[Outcome]:
        keys, resource = self._keys, self._resource
        scope = yield from reading.scope_in_force(keys, resource, found.thread_id, self._configured)
        placeholder = yield from self._placeholder(scope, entry, found)
        if placeholder is None:  # somebody else retried or dropped it
            return Outcome.SUPERSEDED
        observation = as_observation(placeholder) if placeholder else None
        if observation is None or observation.model != PLACEHOLDER:
            raise InvalidInputError(_cannot(resource, found, "no placeholder stands for its message: drop the entry"))
        of, name, fresh = keys.of(resource), found.observation, new_id()
        names = [of.rejected, of.messages(found.thread_id), of.record(scope), of.chunks(scope)]
        names += [of.chunk(name), of.sealed(name), of.observations(scope), of.source(name), of.segment(name)]
        names += [of.sources(found.thread_id), of.draft(scope), of.chunk(fresh), of.sealed(fresh), of.source(fresh)]
        names.append(of.known(found.thread_id))
        covered = sealing((yield from as_list("ZRANGE", of.source(name), 0, -1)))
        told: list[Any] = [name, fresh, found.thread_id, placeholder]
        told += [observation.tokens, observation.message_tokens, covered]
        done = yield from Verb("retry", names, [entry, "", 0, *told], outcome)
        if done is Outcome.SEALED:
            self._moved_on(scope)
            with suppress(StoreError):  # the sweep finds what a mark could not say
                yield from due.mark(keys.due_observe, [scope])
        return done

    def _placeholder(self, scope: Scope, entry: bytes, found: Rejected) -> Steps[bytes | None]:
        """What stands for the message of an entry, b"" if nothing does; None when the entry is gone."""
        of, name = self._keys.of(scope.resource), found.observation
        listed, waits, said, source, version = yield from batch(
            as_float("LPOS", of.rejected, entry),
            as_float("ZSCORE", of.chunks(scope), name),
            as_bytes("HGET", of.chunk(name), "observation"),
            as_bool("EXISTS", of.source(name)),
            as_fields("HMGET", of.record(scope), "epoch", "generation", "seq"),
        )
        if listed is None:
            return None
        if waits is not None:
            return said or b""
        stored = (yield from self._stored(scope, version)).get(name)
        if stored and source:
            return stored.member
        if (yield from as_float("LPOS", of.rejected, entry)) is None:  # it was retried between the two looks
            return None
        raise InvalidInputError((yield from self._covered(scope, found, stored)))

    def _stored(self, scope: Scope, version: Sequence[bytes | None]) -> Steps[dict[str, Stored]]:
        """The observations in force, by id, read anew where the memory has moved on by more than our own doing."""
        epoch, generation, seq = version
        now = epoch, generation, float(seq or 0)
        if scope not in self._read or self._read[scope].version != now:
            listed = yield from reading.observations(self._keys, scope)
            self._read[scope] = _Placeholders(now, {stored.observation.id: stored for stored in listed})
        return self._read[scope].stored

    def _moved_on(self, scope: Scope) -> None:
        """A retry draws a seq: what was read before it still says where the other placeholders are."""
        if scope in self._read:
            (epoch, generation, seq), stored = self._read[scope]
            self._read[scope] = _Placeholders((epoch, generation, seq + 1), stored)

    def _covered(self, scope: Scope, entry: Rejected, stored: Stored | None) -> Steps[str]:
        """What to say of a placeholder that cannot be taken back: what covers its message now."""
        if scope not in self._generations:
            self._generations[scope] = yield from reading.generations(self._keys, scope)
        named = ((g.n, (*g.observation_ids, *g.dropped_ids)) for g in self._generations[scope])
        merged = next((n for n, names in named if entry.observation in names), None)
        if stored:
            why = "its message has expired (ttl_days), only the placeholder is left"
        elif merged:
            why = f"its message is covered by generation {merged}, which took in the placeholder"
        else:
            why = "its placeholder is no longer there (forgotten, cleared or long reflected)"
        return _cannot(scope.resource, entry, f"{why}: {_PUSH_AGAIN}")


def _refuse(entry: Rejected, resource: str) -> None:
    why = {
        "ownerless": "its message names no resource: write it under one, then drop the entry",
        "unobservable": ""
        if entry.observation
        else f"it does not say which observation stands for its message: {_PUSH_AGAIN}",
        "malformed": ""
        if entry.utf8
        else "its bytes were no UTF-8 and were not kept: write it again, then drop the entry",
        "changed": "" if entry.utf8 else "its bytes may not be what was written: write it again, then drop the entry",
    }.get(entry.kind, "it was not written by the workers: drop it")
    if why:
        raise InvalidInputError(_cannot(resource, entry, why))
    check_id(entry.thread_id, "thread_id of the entry")
    check_id(entry.observation or "-", "observation of the entry")


def _cannot(resource: str, entry: Rejected, why: str) -> str:
    return f"{resource}'s rejected entry {entry.id} cannot be retried: {why}"


def _judge_again(keys: Keys, resource: str, entry: bytes, found: Rejected) -> Steps[Outcome]:
    of = keys.of(resource)
    args = [entry, found.member.encode(), exact(found.at if found.score is None else found.score)]
    done = yield from Verb("retry", [of.rejected, of.messages(found.thread_id)], args, outcome)
    if done is Outcome.BUSY:
        with suppress(StoreError):  # the sweep finds what a hint could not say
            yield from hint(keys, [of.messages(found.thread_id)])
    return done


def sealed_member(keys: Keys, resource: str, chunk: str) -> Steps[bytes | None]:
    """The one message of a chunk as it was written; None when the chunk is gone."""
    found = yield from as_list("ZRANGE", keys.of(resource).sealed(chunk), 0, 0)
    return found[0] if found else None
