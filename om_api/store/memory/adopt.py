"""How messages of plain ZADDs are accepted: counted, given an id, dated, or put into the quarantine with the reason."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import structs

from om_api.domain.errors import InvalidInputError
from om_api.domain.identity import further_id
from om_api.domain.judging import Judgement, RawMember, Verdict
from om_api.domain.message_size import MAX_SIZE, check_size
from om_api.domain.messages import Message
from om_api.domain.texts.surrogates import whole_json
from om_api.domain.values import Scope, to_ms
from om_api.domain.wire import encode_message, parse_member
from om_api.store.driver.replies import Pair, as_bytes, as_fields, as_pairs, says, server_ms, write
from om_api.store.driver.steps import Steps, Verb, batch
from om_api.store.memory import due, quarantine
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.known import last_further, recognise
from om_api.store.memory.push import JUST_AHEAD_MS, ServerClock, new_signing_key

_TRIES = 5


class Adopted(NamedTuple):
    """What adoption made of a raw set: members kept, copies dropped, members rejected, entries that made room for these.

    `ahead` were dated ahead of the server's clock, by `ahead_ms` at most, and are ordered by its time instead.
    """

    kept: int
    dropped: int
    rejected: int
    trimmed: int = 0
    ahead: int = 0
    ahead_ms: int = 0


class Redaction(Protocol):
    """Who redacts members, and keeps what was replaced before they are."""

    def member(self, text: bytes) -> bytes:
        """A member as it may be kept."""

    def keep(self) -> Steps[None]:
        """Keep what was replaced in the members so far."""


Redacts = Callable[[str], Redaction | None]  # who redacts members of a resource, if anybody does


class _RawSet(NamedTuple):
    """A thread's raw set, the messages and tokens counted of it, and what it is an alias of, if it is one."""

    now: int
    members: list[Pair]
    counts: list[bytes | None]
    stands: bytes | None


def adopt(
    keys: Keys,
    clock: ServerClock,
    resource: str,
    thread: str,
    count: Callable[[str], int],
    redaction: Redaction | None = None,
) -> Steps[Adopted | None]:
    """Count what plain ZADDs left in a thread's raw set; None when it changes faster than it can be read.

    What was put under an alias is the thread's that it stands for, and counted there. What `redaction` finds is replaced, in
    what is rejected too.
    """
    for _ in range(_TRIES):
        raw = yield from _raw_set(keys, resource, thread)
        clock.seen(raw.now)
        if raw.stands:
            thread = yield from _readdressed(keys, resource, thread, raw.stands.decode())
            continue
        if not raw.members and not raw.counts[0]:
            return Adopted(0, 0, 0)
        verdicts, records = yield from _judged(keys, resource, thread, raw, count, redaction)
        if any(verdict.verb == "reject" for verdict in verdicts.values()):
            # before, never after: who dies between the two leaves no quarantine that nobody is told of
            yield from due.looked(keys, resource, raw.now)
        adopted = yield from _verb(keys.of(resource), thread, raw, verdicts, records)
        if adopted:
            trimmed = yield from quarantine.trim(keys, resource, adopted.rejected)
            late = [ms - raw.now for _, score in raw.members if (ms := to_ms(score) or 0) > raw.now + JUST_AHEAD_MS]
            return adopted._replace(trimmed=trimmed, ahead=len(late), ahead_ms=max(late, default=0))
    return None


def _verb(
    of: ResourceKeys,
    thread: str,
    raw: _RawSet,
    verdicts: Mapping[bytes, Verdict],
    records: Sequence[tuple[bytes, bytes]],
) -> Verb[Adopted | None]:
    names = [of.messages(thread), of.tokens, of.known(thread), of.rejected, of.threads]
    args: list[Any] = [thread, len(raw.members), *(n or 0 for n in raw.counts), new_signing_key(), len(records)]
    args += [word for pair in records for word in pair]
    args += [word for member, _ in raw.members for word in (member, *verdicts[member])]
    return Verb("adopt", names, args, _adopted)


def _adopted(reply: Any) -> Adopted | None:
    """None when the raw set, or what is known of its ids, was not as it was read."""
    return None if reply == b"superseded" else Adopted(*map(int, reply[:3]))


def _raw_set(keys: Keys, resource: str, thread: str) -> Steps[_RawSet]:
    of = keys.of(resource)
    found = yield from batch(
        server_ms(),
        as_pairs("ZRANGE", of.messages(thread), 0, -1, "WITHSCORES"),
        as_fields("HMGET", of.tokens, "#" + thread, thread),
        as_bytes("HGET", of.known(thread), "="),
    )
    return _RawSet(*found)


def _readdressed(keys: Keys, resource: str, alias: str, thread: str) -> Steps[str]:
    """Move what stands under an alias to its thread, and say which that is; the alias itself where it is none any more."""
    of = keys.of(resource)
    names = [of.messages(alias), of.known(alias), of.messages(thread)]
    changed = yield from Verb("readdress", names, [thread], says(b"superseded"))
    return alias if changed else thread


def _judged(
    keys: Keys, resource: str, thread: str, raw: _RawSet, count: Callable[[str], int], redaction: Redaction | None
) -> Steps[tuple[dict[bytes, Verdict], list[tuple[bytes, bytes]]]]:
    """The verdict on each member, and the records that change."""
    redact: Callable[[bytes], bytes] = redaction.member if redaction else bytes
    members: list[RawMember] = []
    malformed: dict[bytes, Verdict] = {}

    def clean(member: bytes) -> bytes:
        return redact(whole_json(member))

    for place, (member, score) in enumerate(raw.members):
        cleaned = clean(member)
        try:
            message = _parsed(member, cleaned, thread, resource, score)
        except InvalidInputError as error:
            entry = rejection("malformed", cleaned, thread, str(error), raw.now, score=score)
            malformed[member] = Verdict("reject", entry)
        else:
            becomes = b"" if cleaned == member else encode_message(message)
            at = _ordered_by(score, message, raw.now, len(raw.members) - place)
            members.append(RawMember(member, score, at, message, becomes))
    known = yield from recognise(keys, resource, thread, {each.message.id for each in members})
    judgement = Judgement(known, count, lambda each: _changed(each, clean(each.member), thread, raw.now))
    judgement.judge(members)
    for name, (whole, _) in judgement.rest.items():
        n, last = yield from last_further(keys, whole.message)
        judgement.go_on(name, n, last, further_id(name, n))
    if redaction:
        yield from redaction.keep()
    return malformed | judgement.verdicts, judgement.records


def _ordered_by(score: float, message: Message, now: int, from_end: int) -> float:
    """The ms that a member is ordered by: its score or its own time; where these are ahead, now, in the order they stand in."""
    at = to_ms(score) or to_ms(message.timestamp) or now
    if at > now:
        return now - from_end / 2_000
    return score if math.isfinite(score) and round(score) == at else at


def _parsed(member: bytes, cleaned: bytes, thread: str, resource: str, score: float) -> Message:
    """A message as it may be kept, by the id it has unredacted; its tokens are counted anew."""
    if len(member) > MAX_SIZE:
        raise InvalidInputError(f"too large: {len(member):,} bytes (maximum {MAX_SIZE:,}); split it")
    message = parse_member(member, thread, resource, score)
    check_size(message, member)
    if cleaned == member:
        return message
    return structs.replace(parse_member(cleaned, thread, resource, score), id=message.id, tokens=None)


def _changed(each: RawMember, member: bytes, thread: str, now_ms: int) -> bytes:
    other = f"another message with the id {each.message.id} was accepted first and says something else"
    reason = (
        f"{other}: write it under an id of its own, or have it replace the other while that is raw (om push --replace)"
    )
    return rejection("changed", member, thread, reason, now_ms, score=each.score)


def rejection(kind: str, member: bytes, thread: str, reason: str, now_ms: int, **where: float | str) -> bytes:
    """The quarantine's entry for a member: what it is, where it was, why it is here, when; quarantine.py reads it.

    `where` it can go back to: the `score` it had, or the `observation` that stands for it.
    """
    text = member.decode("utf-8", "replace")
    entry = {"kind": kind, "thread_id": thread, "reason": reason, "at": now_ms, "member": text, **where}
    return msgspec.json.encode(entry if text.encode() == member else {**entry, "utf8": False})


def older_members(keys: Keys, key: str, thread: str) -> Steps[set[str]]:
    """Move members of an older-form key to the resource they name, byte for byte; returns the resources they went to.

    Adding before removing: a crash between the two leaves a copy, which adoption drops.
    """
    moved: set[str] = set()
    for member, score in (yield from as_pairs("ZRANGE", key, 0, -1, "WITHSCORES")):
        resource = _named_resource(member)
        if resource:
            yield from write(("ZADD", keys.of(resource).messages(thread), "NX", score, member))
            moved.add(resource)
        else:
            reason = "a key of the older form, and the message names no resource_id: nobody can know whose it is"
            entry = rejection("ownerless", member, thread, reason, int(time.time() * 1000), score=score)
            yield from write(("RPUSH", keys.of(quarantine.UNKNOWN).rejected, entry))
            yield from quarantine.trim(keys, quarantine.UNKNOWN, 1)
        yield from write(("ZREM", key, member))
    return moved


def _named_resource(member: bytes) -> str | None:
    try:
        fields = msgspec.json.decode(member)
        resource = fields.get("resource_id") or fields.get("resourceId")
        return Scope.parse(str(resource)).resource if resource and "|" not in str(resource) else None
    except (msgspec.DecodeError, AttributeError, InvalidInputError, UnicodeDecodeError):
        return None
