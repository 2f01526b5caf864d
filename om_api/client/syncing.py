"""A client's whole history, as it sends it again each turn: what is new is added, what is known is recognised."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from msgspec import structs

from om_api.client.reading import Scopes
from om_api.client.receipts import Changed, Tally
from om_api.client.writing import Writer
from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError
from om_api.domain.history import align, in_place, named
from om_api.domain.identity import CONTINUES, Known, Said, compare, record_of, said_by
from om_api.domain.messages import Message
from om_api.domain.values import check_id
from om_api.domain.wire import EncodedMessage
from om_api.store.driver.steps import Steps
from om_api.store.memory.kept import kept
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import recognise
from om_api.store.memory.push import BATCH, NO_HISTORY, WHATEVER

_LIKELY_NEW = 16  # messages at a history's end that are sent at once, while nothing is remembered of it
_REMEMBERED = 256  # histories
_LONGEST = 2_000  # messages of one that are remembered
_MOST_READ = 20_000  # messages


class Synced(NamedTuple):
    """What became of a history: the ids its messages are kept under, how many were new, and how many are known as they are.

    `grown` say more than was kept, which is kept now; `changed` say something else, and nothing was changed. `diverged_at` is
    the position from which on the history is not what was kept: edited there, or gone on otherwise; None if it only goes on.
    Instructions at the beginning (role system) are no part of a conversation: they are not kept, and their id is "".
    """

    ids: tuple[str, ...]
    added: int
    known: int
    grown: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    diverged_at: int | None = None


class _History(NamedTuple):
    """A history's messages: what each says, with its own id, the id it is kept under, and its record."""

    said: list[bytes]
    ids: list[str]
    records: list[bytes]

    def cut(self) -> "_History":
        """Its last messages."""
        return _History(self.said[-_LONGEST:], self.ids[-_LONGEST:], self.records[-_LONGEST:])


class Syncing:
    """Adds what is new of histories. It remembers how they ended, which only saves work: what is known, the store says."""

    def __init__(self, keys: Keys, scopes: Scopes, writer: Writer) -> None:
        self._keys, self._scopes, self._writer = keys, scopes, writer
        self._last: LRU[tuple[str, str], _History] = LRU(_REMEMBERED)

    def sync(self, messages: Iterable[Message], resource: str, thread: str) -> Steps[Synced]:
        """Add what is new of a thread's whole history, oldest first: in one round trip where it goes on as it ended last."""
        check_id(resource, "resource_id")
        check_id(thread, "thread_id")
        given = [_placed(n, message, resource, thread) for n, message in enumerate(messages)]
        skipped = len([*takewhile(lambda message: message.role == "system", given)])
        talk = given[skipped:]
        if not talk:
            return Synced(("",) * skipped, 0, 0)
        history, fresh = _guessed(talk, self._last.get((resource, thread)))
        found = yield from self._continued(talk, history, fresh, skipped, resource, thread)
        if found is None:
            history, found = yield from self._compared(talk, history, skipped, resource, thread)
        if not found.changed:
            self._last.put((resource, thread), history.cut())
        ids = ("",) * skipped + tuple(history.ids)
        return found._replace(ids=ids, diverged_at=_diverged_at(ids, found))

    def _continued(
        self, talk: Sequence[Message], history: _History, fresh: int, skipped: int, resource: str, thread: str
    ) -> Steps[Synced | None]:
        """Send what is probably new, if all before it is known; None where it is not, or the last history ended elsewhere."""
        sent = range(fresh, len(talk))
        if len(sent) > BATCH:
            return None
        ready, tally = self._ready(talk, history.ids, sent, skipped, resource, thread), Tally()
        pushed = yield from self._writer.push(resource, ready, before=b"".join(history.records[:fresh]))
        if pushed.apart:
            return None
        tally.take(pushed)
        yield from self._writer.amend(pushed, tally)
        return _synced(tally, len(talk) - len(sent))

    def _ready(
        self, talk: Sequence[Message], ids: Sequence[str], sent: Sequence[int], skipped: int, resource: str, thread: str
    ) -> list[EncodedMessage]:
        named = (structs.replace(talk[n], id=ids[n], resource_id=resource, thread_id=thread) for n in sent)
        return self._writer.prepare_all(named, [skipped + n for n in sent])

    def _compared(
        self, talk: Sequence[Message], history: _History, skipped: int, resource: str, thread: str
    ) -> Steps[tuple[_History, Synced]]:
        """Find the history among what is kept, and send what is not there as it says."""
        known = yield from recognise(self._keys, resource, thread, history.ids)
        certain = [
            structs.replace(message, id=name) if name in known else message
            for name, message in zip(history.ids, talk, strict=True)
        ]
        scope = yield from self._scopes.of(resource, thread)
        there = yield from kept(self._keys, scope, thread, partial(_is_enough, len(talk), known.keys()))
        own = [message for message in there if CONTINUES not in (message.metadata or {})]
        aligned = align(own, certain, history.said)
        known = yield from recognise(self._keys, resource, thread, aligned.ids)
        sent = [n for n, name in enumerate(aligned.ids) if not _is_known(known.get(name), talk[n])]
        tally = Tally()
        dated = in_place(own, aligned.ids, talk)
        yield from self._sent(self._ready(dated, aligned.ids, sent, skipped, resource, thread), tally, aligned.ids[-1])
        records = [record_of(message, name=name) for name, message in zip(aligned.ids, talk, strict=True)]
        diverged = None if aligned.diverged_at is None else skipped + aligned.diverged_at
        found = _synced(tally, len(talk) - len(sent))._replace(diverged_at=diverged)
        return _History(history.said, aligned.ids, records), found

    def _sent(self, ready: Sequence[EncodedMessage], tally: Tally, last: str) -> Steps[None]:
        for start in range(0, len(ready), BATCH):
            some = ready[start : start + BATCH]
            ends = some[-1].message.id == last
            pushed = yield from self._writer.push(
                some[0].message.resource_id, some, before=WHATEVER if ends else NO_HISTORY
            )
            tally.take(pushed)
            yield from self._writer.amend(pushed, tally)


def _placed(n: int, message: Message, resource: str, thread: str) -> Message:
    if not isinstance(message, Message):
        raise InvalidInputError(f"messages[{n}]: it must be a Message, not {type(message).__name__}; nothing was kept")
    if message.thread_id not in {"", thread} or message.resource_id not in {"", resource}:
        whose = f"{message.resource_id}'s thread {message.thread_id}"
        text = f"messages[{n}]: it is of {whose}, the history is of {resource}'s thread {thread}; nothing was kept"
        raise InvalidInputError(text)
    return message


def _guessed(talk: Sequence[Message], last: _History | None) -> tuple[_History, int]:
    """A history with the ids that its messages should have, and the position of the first that is probably new."""
    said = [said_by(message) + message.id.encode() for message in talk]
    start = _overlap(last.said, said) if last else None
    if last is None or start is None:
        ids, records, fresh = named(talk, said), list[bytes](), max(0, len(talk) - _LIKELY_NEW)
    else:
        ids, records = last.ids[start:], last.records[start:]
        fresh = len(ids)
        ids = ids + named(talk[fresh:], said[fresh:], ids[-1])
    records = records + [
        record_of(message, name=name) for message, name in zip(talk[len(records) :], ids[len(records) :], strict=True)
    ]
    return _History(said, ids, records), min(fresh, len(talk) - 1)


def _overlap(before: Sequence[bytes], now: Sequence[bytes]) -> int | None:
    """Where a history begins in what it was: all of that, from there on, is its beginning. None: nowhere, or hardly."""
    for start, said in enumerate(before):
        if said == now[0] and list(before[start:]) == list(now[: len(before) - start]):
            return start if start == 0 or len(before) - start > 1 else None
    return None


def _is_enough(length: int, wanted: Collection[str], found: Sequence[Message]) -> bool:
    return len(found) >= _MOST_READ or (
        len(found) >= 2 * length + _LIKELY_NEW and set(wanted) <= {message.id for message in found}
    )


def _is_known(known: Known | None, message: Message) -> bool:
    return known is not None and compare(known, message) is Said.SAME


def _diverged_at(ids: Sequence[str], found: Synced) -> int | None:
    """Where a history differs first: an edited message, or where it goes on otherwise."""
    changed = {each.id for each in found.changed}
    edited = next((n for n, name in enumerate(ids) if name in changed), None)
    return min((n for n in (edited, found.diverged_at) if n is not None), default=None)


def _synced(tally: Tally, unsent: int) -> Synced:
    receipt = tally.receipt(())
    known = unsent + len(receipt.duplicates)
    return Synced((), receipt.added, known, receipt.grown, receipt.changed)
