"""The ids that a thread knows: of what is raw, sealed, or behind an observation whose source is kept; see shared/ids.lua."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.histories.retraction import MOST_QUOTES, marks_of, quote_of
from om_api.domain.identity import GOES_ON, KnownId, continues, further_id, mark, record_of, whole_of
from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_api.store.driver.replies import as_bytes, as_fields, as_list, as_pairs, number
from om_api.store.driver.steps import Batch, Steps, Verb, batch, by_name
from om_api.store.memory.decoding import parsed_once
from om_api.store.memory.keys import Keys, ResourceKeys

DAY_MS = 86_400_000
COMPLETE = "*ids"  # the field of the tokens hash that says that of every message kept the id is known
_RECORD = 16  # bytes
_LAST_DAY = GOES_ON - 1
_GOES_ON = GOES_ON.to_bytes(2) + bytes(7)
_FULL = 48  # records of a bucket, on average
_FURTHER = 8  # further messages of one that are asked for at once
_AT_ONCE = 100  # sets read in one batch


def recognise(keys: Keys, resource: str, thread: str, names: Collection[str]) -> Steps[dict[str, KnownId]]:
    """What is known of ids; those that are not known are left out."""
    if not names:
        return {}
    found = yield from Verb("recognise", [keys.of(resource).known(thread)], list(map(mark, names)), _records)
    return {name: KnownId.of(record) for name, record in zip(names, found, strict=True) if record}


class Ending(NamedTuple):
    """How a thread ended when something was accepted last, by the 7 bytes of an id (zeros: none), and what is retracted of it.

    `forgets` is true once messages of it expired, or were removed by their owner, until it is cleared. `history` is the id
    that the last history ended with.
    """

    last: bytes
    forgets: bool
    retracted: frozenset[bytes]
    history: bytes


def ending(keys: Keys, resource: str, thread: str) -> Batch[Ending]:
    """How a thread ended."""
    return as_fields("HMGET", keys.of(resource).known(thread), "^", "~", "@", "%").then(
        lambda found: Ending(found[0] or bytes(7), bool(found[1]), marks_of(found[2]), found[3] or b"")
    )


def retracted(keys: Keys, resource: str, threads: Collection[str]) -> Batch[Mapping[str, frozenset[bytes]]]:
    """The marks of what is retracted, by thread."""
    of = keys.of(resource)
    return by_name(sorted({*threads}), lambda name: as_bytes("HGET", of.known(name), "@").then(marks_of))


def retract(
    keys: Keys, resource: str, thread: str, last: bytes, gone: Sequence[Message], back: Sequence[Message]
) -> Steps[bool]:
    """Retract messages, and take others back; False, and nothing is done, unless the thread still ends with the mark `last`."""
    of = keys.of(resource)
    args: list[Any] = [last, MOST_QUOTES, len(gone)]
    args += [word for each in gone for word in (mark(each.id), quote_of(each, noted=True))]
    args += [word for each in back for word in (mark(each.id), quote_of(each, noted=False))]
    return (
        yield from Verb("retract", [of.known(thread), of.thread(thread)], args, lambda reply: reply != b"superseded")
    )


def last_further(keys: Keys, message: Message) -> Steps[tuple[int, KnownId | None]]:
    """The number of the last further message of one, and what is known of it; 0 and None for one that has none."""
    n, last = 0, None
    while True:
        names = [further_id(message.id, n + i) for i in range(1, _FURTHER + 1)]
        found = yield from recognise(keys, message.resource_id, message.thread_id, names)
        for name in names:
            if name not in found:
                return n, last
            n, last = n + 1, found[name]


def _records(reply: Any) -> list[bytes]:
    return list(reply)


def records_of(members: Iterable[bytes], day: int = 0) -> bytes:
    """The records of members as they are kept, one behind the other, without those that are no messages."""
    return b"".join(record_of(message, day) for member in members if (message := _message(member)))


def sealing(members: Iterable[bytes]) -> bytes:
    """The records of members that are sealed now, and those of the messages that they are the rest of."""
    messages = [message for member in members if (message := _message(member))]
    own = [record_of(message) for message in messages]
    return b"".join(own + [mark(name) + _GOES_ON for message in messages if (name := continues(message))])


def _message(member: bytes) -> Message | None:
    return parsed_once((member, 0), "-", "-")


def arriving(member: bytes, day: int = 0) -> bytes:
    """The records of a member that comes from a file: its own, and that of the message that it is the rest of."""
    message = _message(member)
    return record_of(message, day) + whole_of(message, day) if message else b""


def laid_out(records: bytes | bytearray, days: Mapping[int, int]) -> dict[str, bytes | int]:
    """The hash that knows these records, of an id the longest, as the scripts would have made it; `days` as in `learn`."""
    by_id = {record[:7]: record for record in sorted(listed(records), key=lambda record: KnownId.of(record).length)}
    buckets = max(1, math.ceil(len(by_id) / _FULL))
    span = 2 ** (buckets.bit_length() - 1)
    held = defaultdict[str, bytearray](bytearray)
    for record in by_id.values():
        at = int.from_bytes(record[:4]) % (2 * span)
        held[str(at if at < buckets else at - span)] += record
    fields: dict[str, bytes | int] = {name: bytes(bucket) for name, bucket in held.items()}
    return fields | {"#": len(by_id), "/": buckets} | {f"d{day}": at for day, at in days.items()}


def listed(records: bytes | bytearray) -> list[bytes]:
    """Records that stand one behind the other, as a list."""
    return [bytes(records[at : at + _RECORD]) for at in range(0, len(records), _RECORD)]


def held_records(held: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The records of a hash of known ids, each by the 7 bytes of its id."""
    buckets = [bucket for name, bucket in held.items() if name.isdigit()]
    return {record[:7]: record for bucket in buckets for record in listed(bucket)}


# -- what an older version did not write down --------------------------------------------------------------------------


def learn(keys: Keys, scope: Scope, threads: Sequence[str], *, complete: bool) -> Steps[None]:
    """Know the ids of all that is kept of some threads of a scope; `complete` notes that there are no others of the resource.

    Time 0: a worker reads what is kept. Time 1: a message is accepted or sealed: it is known from then on. Time 2: what was
    read is learned, but for what is known already.
    """
    for thread in threads:
        yield from _learn(keys, scope, thread)
    if complete:
        yield from _told(keys.of(scope.resource), threads[-1] if threads else "-", b"", {}, complete=True)


def _learn(keys: Keys, scope: Scope, thread: str) -> Steps[None]:
    of = keys.of(scope.resource)
    raw, chunks, sources = yield from batch(
        as_list("ZRANGE", of.messages(thread), 0, -1),
        as_list("ZRANGE", of.chunks(scope), 0, -1),
        as_pairs("ZRANGE", of.sources(thread), 0, -1, "WITHSCORES"),
    )
    names = [chunk.decode() for chunk in chunks]
    said = yield from by_name(
        names, lambda name: as_fields("HMGET", of.chunk(name), "thread", "sealed_at"), atomic=False
    )
    sealed = {of.sealed(name): int(at or 0) for name, (own, at) in said.items() if own == thread.encode()}
    activated = {of.source(name.decode()): int(at) for name, at in sources}
    yield from _told(of, thread, records_of(raw), {})
    for places, days in ((sealed, {}), (activated, {day_of(at): at for at in sorted(activated.values())})):
        for some in _slices(places):
            held = yield from by_name(some, lambda key: as_list("ZRANGE", key, 0, -1), atomic=False)
            records = b"".join(records_of(members, day_of(places[key])) for key, members in held.items())
            yield from _told(of, thread, records, days)


def day_of(ms: int) -> int:
    """The day a time is of, as records say it; never 0, which says raw."""
    return min(max(1, ms // DAY_MS), _LAST_DAY)


def _slices(places: Mapping[str, int]) -> list[list[str]]:
    names = list(places)
    return [names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)]


def _told(
    of: ResourceKeys, thread: str, records: bytes, days: Mapping[int, int], *, complete: bool = False
) -> Steps[None]:
    if records or days or complete:
        words = [word for pair in days.items() for word in pair]
        yield from Verb("learn", [of.known(thread), of.tokens], [int(complete), records, *words], number)


# -- what is over -------------------------------------------------------------------------------------------------------


def tidy(keys: Keys, scope: Scope, threads: Iterable[str], ttl_s: int) -> Steps[int]:
    """Forget the ids of messages whose sources have expired, and note in the record when to look next; how many they were."""
    gone = 0
    for n, thread in enumerate(threads):
        gone += yield from _tidied(keys, scope, thread, ttl_s, n)
    return gone


def _tidied(keys: Keys, scope: Scope, thread: str, ttl_s: int, n: int) -> Steps[int]:
    of = keys.of(scope.resource)
    chunks = yield from as_list("ZRANGE", of.chunks(scope), 0, -1)
    names = [of.known(thread), of.record(scope), of.chunks(scope), *(of.chunk(chunk.decode()) for chunk in chunks)]
    return (yield from Verb("tidy", names, [thread, ttl_s, int(n == 0)], _gone))


def _gone(reply: Any) -> int:
    return 0 if reply == b"superseded" else int(reply)
