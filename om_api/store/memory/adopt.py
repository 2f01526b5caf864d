"""How messages of plain ZADDs are accepted: counted, given an id, dated, or put into the quarantine with the reason."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.message_tokens import count_message
from om_api.domain.values import Scope, to_ms
from om_api.domain.wire import fingerprint, parse_member
from om_api.store.driver.replies import Pair, as_fields, as_list, as_pairs, server_ms, write
from om_api.store.driver.steps import Steps, Verb, batch, each
from om_api.store.memory import quarantine
from om_api.store.memory.keys import WINDOW_MS, Keys
from om_api.store.memory.push import TRIES, ServerClock, new_signing_key

_SETS = 100  # asked at once whether they cover a member


class Adopted(NamedTuple):
    """What adoption made of a raw set: members kept, copies dropped, members rejected, entries that made room for these."""

    kept: int
    dropped: int
    rejected: int
    trimmed: int = 0


class _RawSet(NamedTuple):
    """A thread's raw set, the messages and tokens counted of it, the memory's version, the sets that may cover its members."""

    now: int
    members: list[Pair]
    counts: list[bytes | None]
    version: list[bytes | None]
    sets: list[str]


def adopt(
    keys: Keys, clock: ServerClock, scope: Scope, thread: str, count: Callable[[str], int]
) -> Steps[Adopted | None]:
    """Count what plain ZADDs left in a thread's raw set; None when it changes faster than it can be read.

    `scope` is the memory that covers the thread; its record's version proves that nothing was sealed meanwhile.
    """
    of = keys.of(scope.resource)
    for _ in range(TRIES):
        window = clock.window()
        raw = yield from _raw_set(keys, scope, thread)
        clock.seen(raw.now)
        if not raw.members and not raw.counts[0]:
            return Adopted(0, 0, 0)
        covering = yield from _covering(raw.sets, [member for member, _ in raw.members])
        names = [of.messages(thread), of.tokens, of.record(scope), of.seen(thread, window), of.seen(thread, window - 1)]
        args: list[Any] = [window, WINDOW_MS, thread, len(raw.members), *(n or 0 for n in raw.counts)]
        args += [raw.version[0] or "", raw.version[1] or 0, new_signing_key()]
        for member, score in raw.members:
            args += _judged(member, score, scope.resource, thread, count, raw.now)
        adopted = yield from Verb("adopt", [*names, of.rejected, of.threads, *covering], args, _adopted)
        if adopted:
            trimmed = yield from quarantine.trim(keys, scope.resource, adopted.rejected)
            return adopted._replace(trimmed=trimmed)
    return None


def _adopted(reply: Any) -> Adopted | None:
    """None when the memory was not as it was read, or the window not the server's."""
    return None if reply == b"superseded" or reply[1] == b"clock" else Adopted(*map(int, reply[:3]))


def _raw_set(keys: Keys, scope: Scope, thread: str) -> Steps[_RawSet]:
    of = keys.of(scope.resource)
    now, members, counts, version, chunks, observations = yield from batch(
        server_ms(),
        as_pairs("ZRANGE", of.messages(thread), 0, -1, "WITHSCORES"),
        as_fields("HMGET", of.tokens, "#" + thread, thread),
        as_fields("HMGET", of.record(scope), "epoch", "seq"),
        as_list("ZRANGE", of.chunks(scope), 0, -1),
        as_list("ZRANGE", of.sources(thread), 0, -1),
    )
    sets = [of.sealed(chunk.decode()) for chunk in chunks] + [of.source(name.decode()) for name in observations]
    return _RawSet(now, members, counts, version, sets)


def _covering(sets: Sequence[str], members: Sequence[bytes]) -> Steps[list[str]]:
    found: list[str] = []
    for start in range(0, len(sets) if members else 0, _SETS):
        some = sets[start : start + _SETS]
        scores = yield from each((as_fields("ZMSCORE", name, *members) for name in some), atomic=False)
        found += [name for name, own in zip(some, scores, strict=True) if any(score is not None for score in own)]
    return found


def _judged(
    member: bytes, score: float, resource: str, thread: str, count: Callable[[str], int], now_ms: int
) -> list[Any]:
    try:
        message = parse_member(member, thread, resource, score)
    except InvalidInputError as error:
        return [member, "", "", 0, "", rejection("malformed", member, thread, str(error), now_ms, score=score), ""]
    repaired = to_ms(score) or to_ms(message.timestamp) or now_ms
    first = f"another message with the id {message.id} was accepted first"
    surplus = rejection("surplus", member, thread, first, now_ms, score=score)
    tokens = count_message(message, count)
    return [member, message.id, fingerprint(member), tokens, "" if repaired == score else repaired, "", surplus]


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
