"""A message that comes again with more, or with something else: in its place while it is raw, behind it once it was sealed."""

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import structs

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.identity import KnownId, Said, compare, continued, further, further_id, goes_on, record_of
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_api.domain.wire import EncodedMessage, encode_message, parse_member
from om_api.store.driver.replies import Pair, as_pairs
from om_api.store.driver.steps import Replicas, Steps, Verb
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import last_further, recognise

_TRIES = 8
_TOO_FAST = "changes faster than it can be read: repeat the call with the same ids, which is safe."
_PAGE = 500  # raw members read at once, the newest first


class _Raw(NamedTuple):
    """A member of a raw set, its score, and what it says."""

    member: bytes
    score: float
    message: Message


class _Change(NamedTuple):
    """What is to stand where: instead of `old` (None: beside the others), and the records that change with it."""

    message: Message
    old: _Raw | None
    records: list[tuple[bytes, bytes]]


def amend(
    keys: Keys,
    each: EncodedMessage,
    known: KnownId,
    count: Callable[[str], int],
    *,
    replace: bool = False,
    replicas: Replicas | None = None,
) -> Steps[Said]:
    """Keep what a message says more than the one that is known by its id; CHANGED, and nothing is, for one that says otherwise.

    One that is a beginning of what is raw by now says nothing new (SAME): while a message streams its forms may come late.
    With `replace` one that says otherwise takes the place of what is raw (REPLACED). Raises StoreError for what changes
    faster than it can be read.
    """
    message = each.message
    found: KnownId | None = known
    for _ in range(_TRIES):
        if found is None:
            break
        said = compare(found, message)
        if said is Said.SAME or (said is Said.CHANGED and found.day):
            return said
        if said is Said.CHANGED and not replace:
            return (yield from _beginning(keys, message, found))
        change = yield from (_behind(keys, message, found, count) if found.day else _in_place(keys, message, found))
        if change and (yield from _commit(keys, change, count, replicas)):
            return Said.REPLACED if said is Said.CHANGED else said
        found = (yield from recognise(keys, message.resource_id, message.thread_id, [message.id])).get(message.id)
    raise StoreError(f"message {message.id} of {message.resource_id} {_TOO_FAST}", stored=None)


def instead(keys: Keys, message: Message, count: Callable[[str], int]) -> Steps[bool]:
    """Have a message stand in the place of the raw one that has its id, whatever that says; False where none has it now."""
    found = (yield from recognise(keys, message.resource_id, message.thread_id, [message.id])).get(message.id)
    change = (yield from _in_place(keys, message, found)) if found and not found.day else None
    return bool(change and (yield from _commit(keys, change, count, None)))


def _beginning(keys: Keys, message: Message, known: KnownId) -> Steps[Said]:
    """SAME for a message that is a beginning of what is raw by now, else CHANGED."""
    shorter = KnownId.of(record_of(message)).length < known.length
    old = (yield from _raw(keys, message, message.id)) if shorter else None
    return Said.SAME if old and goes_on(message, old.message) else Said.CHANGED


def _in_place(keys: Keys, message: Message, known: KnownId) -> Steps[_Change | None]:
    """Where a raw message stands, what it says now."""
    old = yield from _raw(keys, message, message.id)
    if old is None:
        return None
    new = structs.replace(message, timestamp=old.message.timestamp, at=0)
    return _Change(new, old, [(known.record, known.grown(message).record)])


def _behind(keys: Keys, message: Message, known: KnownId, count: Callable[[str], int]) -> Steps[_Change]:
    """What a message says beyond what was sealed of it: in the place of what is raw of that, else a further message."""
    n, last = yield from last_further(keys, message)
    if last and not last.day and (old := (yield from _raw(keys, message, further_id(message.id, n)))):
        after = continued(old.message, message.id)
        if after is not None:
            return _rest(message, known, n, after, last.record, old, count)
    return _rest(message, known, n + 1, known.length, b"", None, count)


def _rest(
    message: Message, known: KnownId, n: int, after: int, was: bytes, old: _Raw | None, count: Callable[[str], int]
) -> _Change:
    new = further(message, n, after)
    new.tokens = count_message(new, count)
    return _Change(new, old, [(known.record, known.gone_on(message).record), (was, record_of(new))])


def _raw(keys: Keys, message: Message, name: str) -> Steps[_Raw | None]:
    """The raw message of this id, in the thread of a message."""
    key, start = keys.of(message.resource_id).messages(message.thread_id), 0
    while True:
        page = yield from as_pairs("ZRANGE", key, start, start + _PAGE - 1, "REV", "WITHSCORES")
        for pair in page:
            if (found := _named(pair, name)) is not None:
                return found
        if len(page) < _PAGE:
            return None
        start += _PAGE


def _named(pair: Pair, name: str) -> _Raw | None:
    member, score = pair
    if name.encode() not in member and not name.startswith("h-"):
        return None
    try:
        message = parse_member(member, "-", "-", score)
    except InvalidInputError:
        return None
    return _Raw(member, score, message) if message.id == name else None


def _commit(keys: Keys, change: _Change, count: Callable[[str], int], replicas: Replicas | None) -> Steps[bool]:
    message, old, records = change
    of, at = keys.of(message.resource_id), message.at
    tokens = count_message(message, count)
    message = structs.replace(message, tokens=tokens, at=0)
    weight = tokens - (count_message(old.message, count) if old else 0)
    member = encode_message(message)
    args: list[Any] = [message.thread_id, old.member if old else b"", member, at, weight]
    args += [word for pair in records for word in pair]
    names = [of.messages(message.thread_id), of.tokens, of.known(message.thread_id)]
    counts = yield from Verb("amend", names, args, _counts, replicas)
    if counts is None:
        return False
    if not counts:
        return True
    own, every, wake, own_wake = counts
    if own_wake and own >= own_wake:
        yield from due.mark(keys.due_observe, [Scope(message.resource_id, message.thread_id)])
    elif not own_wake and every >= wake:
        yield from due.mark(keys.due_observe, [Scope(message.resource_id)])
    return True


def _counts(reply: Any) -> tuple[int, int, int, int] | tuple[()] | None:
    """Unsealed tokens of the thread and of all, and from where on they are due.

    () of a thread that leaves no memory; None for `superseded`.
    """
    if reply == b"superseded":
        return None
    if not reply:
        return ()
    own, every, wake, own_wake = (int(word or 0) for word in reply)
    return own, every, wake, own_wake
