"""Sharing: what one memory tells another, as an observation there, which goes when what it was made of goes."""

import hashlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

import msgspec

from om_api.domain.errors import NotFoundError, NotPermittedError, QuotaReachedError
from om_api.domain.message_tokens import Count
from om_api.domain.note_lines import body, sourced
from om_api.domain.notes.edits import MARKS, one_line
from om_api.domain.values import Generation, Observation, Outcome, Scope, SharedFrom, Stored, new_id
from om_api.store.archiving.changing import changed, everything, sources_of
from om_api.store.driver.replies import as_bytes, as_fields, outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.erasing.erase import Eraser, a_copy
from om_api.store.lines.correcting import TRIES, too_fast
from om_api.store.memory.adopt import Redacts
from om_api.store.memory.clear import forget
from om_api.store.memory.content import SHARED_IN, TOLD, Content, content
from om_api.store.memory.decoding import as_generation
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.memory.reading import stored_scope

ORIGIN = "shared"
PRIORITY = 3
MOST_TOKENS = 10_000  # that one memory may share with another in a day, and of what no reflection has taken in yet
_DAY_MS = 24 * 3_600_000


def copy_id(source: SharedFrom, target: str) -> str:
    """The id of what a memory was told of an observation: the same whoever tells it, however often; it sorts by time."""
    said = f"{source.resource}\n{source.observation}\n{source.made_at}\n{target}"
    return _named(source.made_at, said)


def attributed(resource: str, lines: Sequence[str], day: datetime) -> str:
    """The text of a shared note: a date, and lines that each begin with the memory that they come from."""
    items = [f"* {MARKS[PRIORITY]} {sourced(resource, body(one_line(line)))}" for line in lines]
    return "\n".join([f"Date: {day:%b} {day.day}, {day.year}", *items])


def note_id(resource: str, target: str, text: str) -> str:
    """The id of what an Actor tells another memory: the same for the same text."""
    return _named(0, f"{resource}\n{target}\n{text}")


def _named(at: int, said: str) -> str:
    return f"{at & 0xFFFFFFFFFFFF:012x}{hashlib.blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=10).hexdigest()}"


def share(keys: Keys, target: str, made: Observation) -> Steps[Outcome]:
    """Append a note to another memory, once: `added`, `rest` where it was added before, `busy` while that one is paused.

    `rejected` where each of its threads has a memory of its own. Raises StoreError where it changes faster than it can be read,
    and QuotaReachedError where its source would exceed MOST_TOKENS there. That sum is of the content whose seq the script
    compares, so two workers cannot exceed it together.
    """
    scope, of = Scope(target), keys.of(target)
    names = [of.scope, of.record(scope), of.tokens, of.observations(scope), of.threads, of.aliases]
    for _ in range(TRIES):
        if (yield from stored_scope(keys, target)) == "thread":
            return Outcome.REJECTED
        if stands := (yield from as_bytes("HGET", of.aliases, made.thread_id)):
            made = msgspec.structs.replace(made, thread_id=stands.decode())
        read = yield from content(keys, scope)
        if made.id in _known(read):
            return Outcome.REST
        _check_room(read, target, made)
        member = msgspec.json.encode(made)
        args = ["resource", read.epoch, new_id(), new_id(), made.thread_id, member, made.tokens, read.seq]
        done = yield from Verb("add_line", names, args, outcome)
        if done is not Outcome.SUPERSEDED:
            return done
    raise too_fast(scope)


def _check_room(read: Content, target: str, made: Observation) -> None:
    """Raise QuotaReachedError where a copy does not fit in what its source may share with a memory."""
    source, day = _sharer(made), made.created_at - _DAY_MS
    replaced = (each for each in read.history if each.observation.created_at > day)
    used = sum(
        each.observation.tokens for each in (*read.observations, *replaced) if _sharer(each.observation) == source
    )
    if used + made.tokens > MOST_TOKENS:
        raise QuotaReachedError(
            f"{source} shares too much with {target}: {used + made.tokens:,} tokens; permitted: {MOST_TOKENS:,} in a day,"
            " and of notes that are not reflected yet"
        )


def _sharer(note: Observation) -> str:
    """The memory that shared a note, by its workers or by its Actor; "" for any other note."""
    if note.shared_from:
        return note.shared_from.resource
    return note.by if note.origin == "added" else ""


def shared_up_to(keys: Keys, scope: Scope, targets: Sequence[str]) -> Steps[dict[str, float]]:
    """Up to which observation, by its seq, each other memory was told what it is to be told."""
    record = keys.of(scope.resource).record(scope)
    found = yield from as_fields("HMGET", record, *map(_field, targets))
    return {target: float(seq or 0) for target, seq in zip(targets, found, strict=True)}


def note_shared(keys: Keys, scope: Scope, epoch: str, target: str, seq: float) -> Steps[Outcome]:
    """Note that it was told up to an observation."""
    args = [epoch, format(seq, ".17g"), _field(target)]
    return (yield from Verb("shared_up_to", [keys.of(scope.resource).record(scope)], args, outcome))


def _field(target: str) -> str:
    return f"{TOLD}{target}"


class SharedCopy(NamedTuple):
    """What was shared with a memory in an `epoch`, and whether a reflection has taken it in."""

    stored: Stored
    epoch: str
    reflected: bool

    @property
    def observation(self) -> Observation:
        """The note itself."""
        return self.stored.observation


def copies(read: Content) -> list[SharedCopy]:
    """What was shared with a memory, in force or behind a generation."""
    found = [SharedCopy(each, read.epoch, reflected=False) for each in read.observations]
    found += [SharedCopy(each, read.epoch, reflected=True) for each in read.history]
    return [copy for copy in found if copy.observation.origin == ORIGIN and copy.observation.shared_from]


def gone(keys: Keys, scope: Scope) -> Steps[list[SharedCopy]]:
    """Copies in a memory whose source was removed or corrected since. An unreadable source does not count as removed."""
    if not (yield from as_bytes("HGET", keys.of(scope.resource).record(scope), SHARED_IN)):
        return []
    found = copies((yield from content(keys, scope)))
    sources = dict.fromkeys(copy.observation.shared_from.resource for copy in found if copy.observation.shared_from)
    held = list[SharedCopy]()
    for resource in sources:
        mine = [copy for copy in found if _source(copy).resource == resource]
        with suppress(NotPermittedError, *UNREADABLE):
            held += yield from _gone_of(keys, resource, scope.resource, mine)
    return held


def _gone_of(keys: Keys, resource: str, target: str, mine: Sequence[SharedCopy]) -> Steps[list[SharedCopy]]:
    """The copies whose source is gone. A source memory is read only if its record says that it shares with the target.

    Otherwise it was cleared since, or never shared: an imported note may name any memory as its source.
    """
    if (yield from stored_scope(keys, resource)) == "thread":
        return []  # each thread's memory would have to be read; what is removed there is told by hand
    record = keys.of(resource).record(Scope(resource))
    began, shares = yield from as_fields("HMGET", record, "created_at", _field(target))
    if shares is None:
        return list(mine)
    read = yield from content(keys, Scope(resource))
    return [copy for copy in mine if _is_gone(copy, read, int(began or 0))]


def _is_gone(copy: SharedCopy, source: Content, began: int) -> bool:
    """Whether what a copy was made of is there no longer, or was corrected: what is corrected is not shared.

    What a generation has taken in is known by its name as long as that generation is kept: what was made since the oldest of
    them, and is not known, was removed. Of what was made before nobody can tell, and it stays, unless the memory `began`
    (Unix ms) after it.
    """
    made = _source(copy)
    stands = next((each.observation for each in _all(source) if each.observation.id == made.observation), None)
    if stands is not None:  # another of its name was noted anew, of what is left of its messages
        return bool(stands.corrections) or stands.created_at != made.made_at
    generations = [as_generation(member) for _, member in source.generations]
    if any(made.observation in _removed(each) for each in generations):
        return True
    if made.observation in _known(source):
        return False
    oldest = generations[0] if generations else None
    if oldest is None or (oldest.n <= 1 and oldest.origin != "restore"):  # what a move made knows what had not expired
        return True
    return made.made_at > oldest.created_at or made.made_at < began


def take_back_gone(
    keys: Keys, clock: ServerClock, count: Count, language: str, scope: Scope, redacts: Redacts
) -> Steps[int]:
    """Take out of a memory all that was shared with it and is `gone`; how many notes that were."""
    done, found = 0, (yield from gone(keys, scope))
    going = {copy.observation.id for copy in found}
    for copy in found:
        done += yield from take_back(keys, clock, count, language, scope, copy, redacts, going)
    return done


def take_back(
    keys: Keys,
    clock: ServerClock,
    count: Count,
    language: str,
    scope: Scope,
    copy: SharedCopy,
    redacts: Redacts,
    going: Collection[str] = (),
) -> Steps[bool]:
    """Take a copy out of a memory, and what its generations tell of it; whether it went. What was archived comes back first.

    Other notes, pins and working memory stay: see ErasableCopy. No line stays because one that is `going` too tells it.
    """
    target, name = scope.resource, copy.observation.id
    if not copy.reflected:
        change = partial(forget, keys, scope, copy.epoch, copy.stored)
        return (yield from changed(keys, target, language, change, sources_of([name]))) is Outcome.CLEARED
    eraser = Eraser(keys, clock, lambda: _only(scope), count, redacts)
    erase = partial(eraser.erase, target, a_copy(target, name, {name, *going}))
    try:
        return (yield from changed(keys, target, language, erase, everything)).outcome is Outcome.CLEARED
    except NotFoundError:  # somebody else took it back
        return False


def _only(scope: Scope) -> Steps[list[Scope]]:
    yield from ()
    return [scope]


def _removed(generation: Generation) -> Collection[str]:
    """What its owner removed since: named as dropped, and no longer as observed."""
    return {*generation.dropped_ids} - {*generation.observation_ids}


def _source(copy: SharedCopy) -> SharedFrom:
    if copy.observation.shared_from is None:
        raise TypeError("a copy says what it was made of")
    return copy.observation.shared_from


def _all(read: Content) -> list[Stored]:
    return [*read.observations, *read.history]


def _known(read: Content) -> set[str]:
    """The ids of all observations of a memory, in force, replaced, or named by a generation."""
    named = {name for _, member in read.generations for name in as_generation(member).observation_ids}
    return named | {each.observation.id for each in _all(read)}
