"""How messages become accepted: pushed by our library, or adopted from plain ZADDs."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import InvalidInputError, StoreError
from om_api.store import quarantine
from om_api.store.decoding import scored
from om_api.store.keys import WINDOW_MS
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Scope, encode_message, fingerprint, parse_member, to_ms
from om_api.weights import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.store.keys import Keys, ResourceKeys
    from om_api.values import Message

BATCH = 500  # messages of one script call; a larger batch is several calls
_TRIES = 5


class Clock:
    """The server's clock as last seen, so that a push can name the window it belongs to."""

    def __init__(self) -> None:
        self.offset_ms = 0

    def window(self) -> int:
        """The number of the ten minutes the server is believed to be in."""
        return self.ms() // WINDOW_MS

    def ms(self) -> int:
        """The time the server is believed to have."""
        return int(time.time() * 1000 + self.offset_ms)

    def seen(self, now_ms: int) -> None:
        """Learn the server's time from a reply."""
        self.offset_ms = now_ms - int(time.time() * 1000)


class Pushed(NamedTuple):
    """What became of a batch: how many were added, the positions of duplicates, the scopes that are due, server time."""

    added: int
    duplicates: tuple[int, ...]
    due: tuple[str, ...]
    now: int


def push(
    keys: Keys,
    clock: Clock,
    resource: str,
    messages: Sequence[Message],
    *,
    thread_scope: bool = False,
    mark: bool = True,
) -> Steps[Pushed]:
    """Add messages of one resource; each has id, thread_id, tokens and at. Atomic per 500 messages; safe to repeat.

    Positions in `duplicates` count messages in thread order of first appearance, as `by_thread` lays them out.
    """
    of = keys.of(resource)
    threads = by_thread(messages)
    args: list[Any] = []
    for thread, own in threads.items():
        args += [thread, str(Scope(resource, thread)), len(own)]
        for message in own:
            member = encode_message(message)
            args += [message.at, member, message.id, fingerprint(member), message.tokens or 0]
    for _ in range(_TRIES):
        window = clock.window()
        names = [of.tokens, keys.due_observe if mark else of.tokens]
        for thread in threads:
            names += [of.messages(thread), of.seen(thread, window), of.seen(thread, window - 1)]
        fixed = [window, WINDOW_MS, int(mark), "thread" if thread_scope else "resource", resource, new_key()]
        reply = yield Verb("push", names, [*fixed, *args])
        clock.seen(int(reply[0]))
        if reply[1] != b"clock":
            duplicates = tuple(int(position) for position in reply[2:])
            due = tuple(reply[1].decode().split())
            return Pushed(len(messages) - len(duplicates), duplicates, due, int(reply[0]))
    raise StoreError("the server's clock jumps: nothing was added. Mend the server's time, then repeat.", stored=False)


def new_key() -> str:
    """A key for a resource to sign its contexts with."""
    return secrets.token_hex(16)


def by_thread(messages: Sequence[Message]) -> dict[str, list[Message]]:
    """Messages by thread, threads in order of first appearance."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        threads.setdefault(message.thread_id, []).append(message)
    return threads


class Adopted(NamedTuple):
    """What adoption made of a raw set: members kept, copies dropped, members rejected, entries that made room for these."""

    kept: int
    dropped: int
    rejected: int
    trimmed: int = 0


def adopt(keys: Keys, clock: Clock, scope: Scope, thread: str, count: Callable[[str], int]) -> Steps[Adopted | None]:
    """Count what plain ZADDs left in a thread's raw set; None when it changes faster than it can be read.

    `scope` is the memory that covers the thread; its record's version proves that nothing was sealed meanwhile.
    """
    of = keys.of(scope.resource)
    for _ in range(_TRIES):
        window = clock.window()
        read = yield Batch(
            [
                ("TIME",),
                ("ZRANGE", of.messages(thread), 0, -1, "WITHSCORES"),
                ("HMGET", of.tokens, "#" + thread, thread),
                ("HMGET", of.record(scope), "epoch", "seq"),
                ("ZRANGE", of.chunks(scope), 0, -1),
                ("ZRANGE", of.sources(thread), 0, -1),
            ]
        )
        now_ms = _server_ms(read[0])
        clock.seen(now_ms)
        members = scored(read[1])
        if not members and not read[2][0]:
            return Adopted(0, 0, 0)
        sets = [of.sealed(c.decode()) for c in read[4]] + [of.source(o.decode()) for o in read[5]]
        covering = yield from _covering(sets, [member for member, _ in members])
        names = [of.messages(thread), of.tokens, of.record(scope), of.seen(thread, window), of.seen(thread, window - 1)]
        args: list[Any] = [window, WINDOW_MS, thread, len(members), _number(read[2][0]), _number(read[2][1])]
        args += [read[3][0] or "", _number(read[3][1]), new_key()]
        for member, score in members:
            args += _judged(member, score, scope.resource, thread, count, now_ms)
        reply = yield Verb("adopt", [*names, of.rejected, of.threads, *covering], args)
        if reply != b"superseded" and reply[1] != b"clock":
            trimmed = yield from quarantine.trim(keys, scope.resource, int(reply[2]))
            return Adopted(int(reply[0]), int(reply[1]), int(reply[2]), trimmed)
    return None


def _covering(sets: Sequence[str], members: Sequence[bytes]) -> Steps[list[str]]:
    found: list[str] = []
    for start in range(0, len(sets) if members else 0, 100):
        some = sets[start : start + 100]
        replies = yield Batch([("ZMSCORE", name, *members) for name in some], atomic=False)
        found += [name for name, reply in zip(some, replies, strict=True) if any(score is not None for score in reply)]
    return found


def _judged(
    member: bytes, score: float, resource: str, thread: str, count: Callable[[str], int], now_ms: int
) -> list[Any]:
    at = to_ms(score)
    try:
        message = parse_member(member, thread, resource, score)
    except InvalidInputError as error:
        return [member, "", "", 0, "", rejection("malformed", member, thread, str(error), now_ms, score=score), ""]
    repaired = at or to_ms(message.timestamp) or now_ms
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
    members = scored((yield Batch([("ZRANGE", key, 0, -1, "WITHSCORES")]))[0])
    moved: set[str] = set()
    for member, score in members:
        resource = _named_resource(member)
        if resource:
            yield Batch([("ZADD", keys.of(resource).messages(thread), "NX", score, member)], writes=True)
            moved.add(resource)
        else:
            reason = "a key of the older form, and the message names no resource_id: nobody can know whose it is"
            entry = rejection("ownerless", member, thread, reason, int(time.time() * 1000), score=score)
            yield Batch([("RPUSH", keys.of(quarantine.UNKNOWN).rejected, entry)], writes=True)
            yield from quarantine.trim(keys, quarantine.UNKNOWN, 1)
        yield Batch([("ZREM", key, member)], writes=True)
    return moved


def _named_resource(member: bytes) -> str | None:
    try:
        fields = msgspec.json.decode(member)
        resource = fields.get("resource_id") or fields.get("resourceId")
        return Scope.parse(str(resource)).resource if resource and "|" not in str(resource) else None
    except (msgspec.DecodeError, AttributeError, InvalidInputError, UnicodeDecodeError):
        return None


def _server_ms(reply: Sequence[Any]) -> int:
    return int(reply[0]) * 1000 + int(reply[1]) // 1000


def _number(value: bytes | None) -> str:
    return value.decode() if value else "0"


def rejected(of: ResourceKeys, limit: int = 100) -> Steps[list[dict[str, Any]]]:
    """The newest entries of a resource's quarantine, newest first."""
    (entries,) = yield Batch([("LRANGE", of.rejected, -limit, -1)])
    return [msgspec.json.decode(entry) for entry in reversed(entries)]
