"""A client's whole history, as it sends it again each turn: what is new is added, what is known is recognised."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from typing import Literal, NamedTuple, TypeAlias, get_args

from msgspec import structs

from om_api.client.reading import Scopes
from om_api.client.receipts import Changed, ReceiptTally
from om_api.client.writing import Writer, batches
from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.histories.history import Aligned, align, going_on, in_place, named, not_rests
from om_api.domain.histories.retraction import going, is_retracted, standing
from om_api.domain.identity import KnownId, Said, compare, continues, mark, record_of, said_by
from om_api.domain.messages import Message
from om_api.domain.push_limits import ANYBODY, Pusher
from om_api.domain.values import check_id, shown
from om_api.domain.wire import EncodedMessage, no_message
from om_api.store.driver.steps import Steps
from om_api.store.memory.kept import kept
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import ending, recognise, retract
from om_api.store.memory.push import BATCH, INSIDE, WHATEVER
from om_api.store.threads.aliases import resolve

_LIKELY_NEW = 16  # messages at a history's end that are sent at once, while nothing is remembered of it
REMEMBERED = 256  # histories
_LONGEST_NAME, _DIGITS = 180, 10  # of a copy's id: characters of its thread's id, and of the mark of its branch
_LONGEST = 2_000  # messages of one that are remembered
_BYTES = 300  # that one of them takes, about
MOST_BYTES = 32 * 2**20
_MOST_READ = 20_000  # messages
_TRIES = 5
Diverged: TypeAlias = Literal["follow", "copy", "keep"]
DIVERGED: tuple[Diverged, ...] = get_args(Diverged)
Copy: TypeAlias = Callable[[str, str, str, str | None, str | None, Pusher], Steps[object]]  # as ThreadKeeper.copy


class Synced(NamedTuple):
    """What became of a history: the ids its messages are kept under, how many were new, and how many brought nothing new.

    `grown` say more than was kept, which is kept now; `changed` say something else, and nothing was changed. `diverged_at` is
    the position from which on the history is not what was kept: edited there, or gone on otherwise; None if it only goes on.
    `retracted` are the ids of messages that the history replaces, which contexts no longer show; `restored` are those that it
    contains again. `thread_id` is the thread that the history was added to: the one asked for, or a copy of it.
    `ahead` were dated ahead of the server's clock, by `ahead_ms` at most, and are ordered by their arrival instead.
    `cut` were too large, and are stored without their middle (docs/redis-protocol.md).
    Instructions at the beginning (role system) are no part of a conversation: they are not kept, and their id is "".
    """

    ids: tuple[str, ...]
    added: int
    known: int
    grown: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    diverged_at: int | None = None
    retracted: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    thread_id: str = ""
    ahead: tuple[str, ...] = ()
    ahead_ms: int = 0
    cut: tuple[str, ...] = ()


class _Talk(NamedTuple):
    """A history's messages without the instructions before them, how many those were, whose it is, and who sends it.

    `name` is what it was called, which may be an alias of its `thread`; `diverged` what becomes of a branch.
    """

    messages: Sequence[Message]
    skipped: int
    resource: str
    thread: str
    pusher: Pusher
    name: str
    diverged: Diverged


class _Branch(NamedTuple):
    """A branch to continue in a copy: the last common message ("": none), the id of the copy, and the first message after it."""

    until: str
    thread: str
    at: int


class _History(NamedTuple):
    """A history's messages: what each says, with its own id, the id it is kept under, and the record of what is kept.

    `whole` if it is all of them; `changed` are those that say something else than what is kept. Of one that was forgotten
    the record is empty.
    """

    said: list[bytes]
    ids: list[str]
    records: list[bytes]
    whole: bool = True
    changed: tuple[Changed, ...] = ()

    def cut(self) -> "_History":
        """Its last messages."""
        some = slice(-_LONGEST, None)
        whole = len(self.said) <= _LONGEST
        return _History(self.said[some], self.ids[some], self.records[some], whole, self.changed)


class Syncing:
    """Adds what is new of histories. It remembers how they ended, which only saves work: what is known, the store says."""

    def __init__(self, keys: Keys, scopes: Scopes, writer: Writer, copy: Copy) -> None:
        self._keys, self._scopes, self._writer, self._copy = keys, scopes, writer, copy
        self._last: LRU[tuple[str, str], _History] = LRU(REMEMBERED, MOST_BYTES)

    def sync(
        self,
        given: Sequence[Message],
        resource: str,
        name: str,
        pusher: Pusher = ANYBODY,
        diverged: Diverged = "follow",
    ) -> Steps[Synced]:
        """Add what is new of a thread's whole history, oldest first and `checked`: in one round trip where it just goes on."""
        if diverged not in DIVERGED:
            raise InvalidInputError(f"diverged is {shown(diverged)!r}; use one of {', '.join(DIVERGED)}")
        skipped = len([*takewhile(lambda message: message.role == "system", given)])
        if not given[skipped:]:
            return Synced(("",) * skipped, 0, 0, thread_id=self._writer.aliases.thread(resource, name))
        differs: int | None = None
        for _ in range(_TRIES + len(given)):
            thread = self._writer.aliases.thread(resource, name)
            talk = _Talk(given[skipped:], skipped, resource, thread, pusher, name, diverged)
            found = yield from self._added(talk)
            if isinstance(found, _Branch):
                yield from self._branched(talk, found)
                name, differs = found.thread, skipped + found.at if differs is None else differs
            elif found is not None:
                return found if differs is None else found._replace(diverged_at=differs)
        raise StoreError(f"thread {name} of {resource} changes faster than it can be read: repeat.", stored=False)

    def _branched(self, talk: _Talk, branch: _Branch) -> Steps[None]:
        """Make the copy of a branch, unless it exists; the caller then syncs the history into it."""
        there = yield from ending(self._keys, talk.resource, branch.thread)
        if branch.until and not any(there.last):
            yield from self._copy(talk.thread, branch.thread, talk.resource, branch.until, None, talk.pusher)

    def _added(self, talk: _Talk) -> Steps[Synced | _Branch | None]:
        """Add what is new; None where the history is of another thread than this client knew of."""
        place = talk.resource, talk.thread
        history, fresh = _guessed(talk.messages, self._last.get(place))
        found: Synced | _Branch | None = yield from self._continued(talk, history, fresh)
        for _ in range(_TRIES):
            if found is not None:
                break
            if not (yield from self._is_its_thread(talk)):
                return None
            history, found = yield from self._compared(talk, history)
        if found is None or isinstance(found, _Branch):
            return found
        if found.changed and self._writer.redacting.redacts_store(talk.resource):
            found = yield from self._really_changed(talk, history.ids, found)
        end = history._replace(changed=found.changed).cut()
        self._last.put(place, end, _BYTES * len(end.ids))
        ids = ("",) * talk.skipped + tuple(history.ids)
        return found._replace(ids=ids, diverged_at=_diverged_at(ids, found, talk.skipped), thread_id=talk.thread)

    def _is_its_thread(self, talk: _Talk) -> Steps[bool]:
        """Whether a history is still of the thread that it was taken for; of one that came by an alias the store is asked."""
        if talk.thread != talk.name:
            stands = yield from resolve(self._keys, talk.resource, talk.name)
            self._writer.aliases.learn(talk.resource, talk.name, stands)
        return self._writer.aliases.thread(talk.resource, talk.name) == talk.thread

    def _continued(self, talk: _Talk, history: _History, fresh: int) -> Steps[Synced | None]:
        """Send what is probably new, if all before it is known; None where it is not, or the thread went on otherwise."""
        sent = range(fresh, len(talk.messages))
        if len(sent) > BATCH:  # nothing may be sent at all, of what is found to be known
            yield from self._writer.secure(talk.resource)
            return None
        ready, tally = self._ready(talk, history.ids, sent), ReceiptTally()
        before = b"".join(history.records[:fresh])
        goes_on = yield from self._writer.push(talk.resource, ready, tally, before=before, pusher=talk.pusher)
        if not goes_on:
            return None
        unsent = {*history.ids[:fresh]}
        changed = tuple(each for each in history.changed if each.id in unsent)
        found = _synced(tally, fresh - len(changed))
        return found._replace(changed=changed + found.changed)

    def _ready(self, talk: _Talk, ids: Sequence[str], sent: Sequence[int]) -> list[EncodedMessage]:
        messages, skipped, resource, name = talk.messages, talk.skipped, talk.resource, talk.name
        own = (structs.replace(messages[n], id=ids[n], resource_id=resource, thread_id=name) for n in sent)
        return self._writer.prepare_all(own, [skipped + n for n in sent])

    def _compared(self, talk: _Talk, history: _History) -> Steps[tuple[_History, Synced | _Branch | None]]:
        """Find the history among what is kept, and send what is not there as it says; None where the thread went on meanwhile.

        Time 0: this client reads what is kept. Time 1: another adds a turn that both have, by another id. Time 2: this one sends
        it; the thread does not end as it did, and nothing is added.
        """
        messages, _, resource, thread, _, _, diverged = talk
        end = yield from ending(self._keys, resource, thread)
        anew = named(messages, history.said)
        known = yield from recognise(self._keys, resource, thread, {*history.ids, *anew})
        history = max(history, _history_of(messages, history.said, anew), key=partial(_matches, messages, known))
        if _matches(messages, known, history) == len(messages) and end.retracted.isdisjoint(map(mark, history.ids)):
            return history, Synced((), 0, len(messages))
        there = yield from self._kept(talk, known)
        alike = yield from self._writer.redacting.comparable(talk.resource, standing(there, end.retracted), messages)
        aligned = _aligned(*alike, history, known, branches=diverged != "keep")
        gone = going(there, aligned.replaced, aligned.ids, end.history)
        if gone and diverged == "copy":
            return history, _branch(thread, standing(there, end.retracted), gone, aligned.ids)
        back = _back(there, messages, aligned.ids, end.retracted)
        if (gone or back) and not (yield from retract(self._keys, resource, thread, end.last, gone, back)):
            return history, None
        old = _accepted(messages, history.ids, known) | _before_all(there, aligned.ids) if end.forgets else set[str]()
        known |= yield from recognise(self._keys, resource, thread, aligned.ids)
        forgotten = old - known.keys()
        named_ones = [*zip(aligned.ids, messages, strict=True)]
        same = _same(*alike, aligned.ids) if self._writer.redacting.redacts_store(resource) else set()
        there_already = [name in forgotten | same or _is_known(known.get(name), each) for name, each in named_ones]
        sent = [n for n, is_there in enumerate(there_already) if not is_there]
        ready = self._ready(talk._replace(messages=_dated(there, aligned.ids, messages, sent)), aligned.ids, sent)
        tally = yield from self._sent(talk, ready, aligned.ids[-1], end.last)
        if tally is None:
            return history, None
        found = _synced(tally, len(messages) - len(sent))._replace(
            diverged_at=aligned.diverged_at,
            retracted=tuple(each.id for each in gone),
            restored=tuple(each.id for each in back),
        )
        records = [b"" if name in forgotten else _kept_record(name, each, known) for name, each in named_ones]
        return _History(history.said, aligned.ids, records), found

    def _really_changed(self, talk: _Talk, ids: Sequence[str], found: Synced) -> Steps[Synced]:
        """Without what differs from what is kept only by how that was redacted, if it was."""
        there = yield from self._kept(talk, {each.id for each in found.changed})
        same = _same(*(yield from self._writer.redacting.comparable(talk.resource, there, talk.messages)), ids)
        changed = tuple(each for each in found.changed if each.id not in same)
        return found._replace(changed=changed, known=found.known + len(found.changed) - len(changed))

    def _kept(self, talk: _Talk, known: Collection[str]) -> Steps[list[Message]]:
        scope = yield from self._scopes.of(talk.resource, talk.thread)
        return (yield from kept(self._keys, scope, talk.thread, partial(_is_enough, talk.messages, known)))

    def _sent(self, talk: _Talk, ready: Sequence[EncodedMessage], last: str, end: bytes) -> Steps[ReceiptTally | None]:
        """Send messages of a thread, if it ends as it did."""
        tally = ReceiptTally()
        for some, ahead_s in batches(ready):
            before = WHATEVER if some[-1].message.id == last else INSIDE
            before, end = before + end, b""
            push = self._writer.push(talk.resource, some, tally, before=before, pusher=talk.pusher, ahead_s=ahead_s)
            if not (yield from push):
                return None
        return tally


def checked(messages: Iterable[Message], resource: str, thread: str) -> list[Message]:
    """The messages of a thread's history; raises InvalidInputError, which says by position which one cannot be."""
    check_id(resource, "resource_id")
    check_id(thread, "thread_id")
    given: list[Message] = []
    try:
        for message in messages:
            given.append(_placed(message, resource, thread))  # noqa: PERF401  how far we came is told
    except InvalidInputError as error:
        raise InvalidInputError(f"messages[{len(given)}]: {error}; nothing was kept") from error
    return given


def _placed(message: Message, resource: str, thread: str) -> Message:
    if not isinstance(message, Message):
        raise InvalidInputError(no_message(message))
    if message.thread_id not in {"", thread} or message.resource_id not in {"", resource}:
        whose = f"{shown(message.resource_id)}'s thread {shown(message.thread_id)}"
        raise InvalidInputError(f"it is of {whose}, the history is of {resource}'s thread {thread}")
    return message


def _guessed(talk: Sequence[Message], last: _History | None) -> tuple[_History, int]:
    """A history with the ids that its messages should have, and the position of the first that is probably new."""
    said = [said_by(message) + message.id.encode() for message in talk]
    ids, records, fresh = _remembered(talk, said, last)
    ids = ids + named(talk[len(ids) :], said[len(ids) :], ids[-1] if ids else "")
    there = {*ids[: len(records)]}
    changed = tuple(each for each in (last.changed if last else ()) if each.id in there)
    return _history_of(talk, said, ids, records)._replace(changed=changed), min(fresh, len(talk) - 1)


def _history_of(talk: Sequence[Message], said: list[bytes], ids: list[str], records: Sequence[bytes] = ()) -> _History:
    """A history of which the first records are given."""
    rest = zip(talk[len(records) :], ids[len(records) :], strict=True)
    return _History(said, ids, [*records, *(record_of(message, name=name) for message, name in rest)])


def _remembered(
    talk: Sequence[Message], said: Sequence[bytes], last: _History | None
) -> tuple[list[str], list[bytes], int]:
    """The ids and records that are remembered of a history's beginning, and the position of the first that is probably new.

    It may have lost its beginning. Where it says the same over and over, only ids tell how much of it is known then.
    """
    likely = max(0, len(talk) - _LIKELY_NEW)
    nothing = list[str](), list[bytes](), likely
    if last is None:
        return nothing
    same = len([*takewhile(lambda both: both[0] == both[1], zip(last.said, said, strict=False))])
    if last.whole and same == len(last.said):
        return last.ids, last.records, same
    names = named(talk, said)
    if last.ids[-1] in names:
        return names, [], names.index(last.ids[-1]) + 1
    if last.whole and same:
        return last.ids[:same], last.records[:same], likely
    start = _overlap(last.said, said) if last.whole else None
    return nothing if start is None else (last.ids[start:], last.records[start:], len(last.ids) - start)


def _dated(
    there: Sequence[Message], ids: Sequence[str], messages: Sequence[Message], sent: Sequence[int]
) -> list[Message]:
    """A talk of which those that are sent and have no time end now, a ms apart, behind what is kept: in the order they were said.

    Or before a kept one that they stand before. Dated ahead of now, they would stand behind what another client adds next.
    """
    dated, now = in_place(there, ids, messages), int(time.time() * 1000)
    last_ms = there[-1].at if there else 0
    for n, at in zip(sent, count(max(last_ms + 1, now - len(sent) + 1)), strict=False):
        if dated[n].timestamp is None:
            dated[n] = structs.replace(dated[n], timestamp=at)
    return dated


def _overlap(before: Sequence[bytes], now: Sequence[bytes]) -> int | None:
    """Where a history begins in what it was: all of that, from there on, is its beginning. None: nowhere, or hardly."""
    for start, said in enumerate(before[:-1]):
        if said == now[0] and list(before[start:]) == list(now[: len(before) - start]):
            return start
    return None


def _is_enough(messages: Sequence[Message], wanted: Collection[str], found: Sequence[Message]) -> bool:
    """Whether enough is read: more than the history is long, what is known of it, and its beginning; or simply much."""
    if len(found) >= _MOST_READ:
        return True
    if len(found) < 2 * len(messages) + _LIKELY_NEW:
        return False
    first = messages[0].role, messages[0].content
    begins = any((message.role, message.content) == first for message in found)
    return begins and set(wanted) <= {message.id for message in found}


def _matches(messages: Sequence[Message], known: Mapping[str, KnownId], history: _History) -> int:
    return sum(_is_known(known.get(name), message) for name, message in zip(history.ids, messages, strict=True))


def _kept_record(name: str, message: Message, known: Mapping[str, KnownId]) -> bytes:
    """The record of what is kept of a message: as it is known where it says something else."""
    other = name in known and compare(known[name], message) is Said.CHANGED
    return known[name].record if other else record_of(message, name=name)


def _is_known(known: KnownId | None, message: Message) -> bool:
    return known is not None and compare(known, message) is Said.SAME


def _same(there: Sequence[Message], messages: Sequence[Message], ids: Sequence[str]) -> set[str]:
    """The ids under which the same is kept."""
    kept = {message.id: said_by(message) for message in there}
    return {name for name, message in zip(ids, messages, strict=True) if kept.get(name) == said_by(message)}


def _aligned(
    there: Sequence[Message],
    messages: Sequence[Message],
    history: _History,
    known: Collection[str],
    *,
    branches: bool,
) -> Aligned:
    """Where its messages are. One that was an edit of a kept one may be kept itself by now: another client's branch."""
    said = [said_by(message) + message.id.encode() for message in messages]
    edited = {each.id for each in history.changed}
    certain = [
        structs.replace(message, id=name) if name in known and name not in edited else message
        for name, message in zip(history.ids, messages, strict=True)
    ]
    aligned = align(there, certain, said, history.ids, branches=branches)
    if aligned.edited and not any(message.id for message in messages):
        return going_on(not_rests(there), certain, said) or aligned
    return aligned


def _back(
    there: Sequence[Message], messages: Sequence[Message], ids: Sequence[str], retracted: Collection[bytes]
) -> list[Message]:
    """The retracted messages that a history has again, with the rests of those that grew."""
    again = [
        structs.replace(message, id=name)
        for name, message in zip(ids, messages, strict=True)
        if mark(name) in retracted
    ]
    those = {each.id for each in again}
    return again + [each for each in there if continues(each) in those and is_retracted(each, retracted)]


def _branch(thread: str, there: Sequence[Message], gone: Sequence[Message], ids: Sequence[str]) -> _Branch:
    """The branch of a history: where it leaves the thread, and the copy's id, which is the same for the same history."""
    first = {each.id for each in gone}
    until = next((n for n, each in enumerate(there) if each.id in first), 0)
    shared = [each.id for each in there[:until] if each.id in {*ids}]
    last = shared[-1] if shared else ""
    at = ids.index(last) + 1 if last else 0
    return _Branch(last, f"{thread[:_LONGEST_NAME]}.{mark(thread + ids[at]).hex()[:_DIGITS]}", at)


def _accepted(messages: Sequence[Message], ids: Sequence[str], known: Collection[str]) -> set[str]:
    """The ids of a history that were accepted once: those that are known, and what precedes one that was named by that.

    So they are forgotten if ids of the thread are; else it was cleared while its history was on the way.
    """
    accepted, follows = set[str](), False
    for message, name in zip(reversed(messages), reversed(ids), strict=True):
        follows = follows or name in known
        if follows:
            accepted.add(name)
        follows = follows and not message.id
    return accepted


def _before_all(there: Sequence[Message], ids: Sequence[str]) -> set[str]:
    """The ids of a history before the two oldest messages that are kept, if it has both."""
    oldest = [message.id for message in not_rests(there)[:2]]
    has_both = len(oldest) > 1 and len(there) < _MOST_READ and {*oldest} <= {*ids}
    return {*ids[: ids.index(oldest[0])]} if has_both else set()


def _diverged_at(ids: Sequence[str], found: Synced, skipped: int) -> int | None:
    """Where a history differs first: an edited message, or where it goes on otherwise behind `skipped` instructions."""
    changed = {each.id for each in found.changed}
    edited = [n for n, name in enumerate(ids) if name in changed]
    return min(edited + [skipped + at for at in (found.diverged_at,) if at is not None], default=None)


def _synced(tally: ReceiptTally, unsent: int) -> Synced:
    receipt = tally.receipt(())
    known = unsent + len(receipt.duplicates)
    found = Synced((), receipt.added, known, receipt.grown, receipt.changed)
    return found._replace(ahead=receipt.ahead, ahead_ms=receipt.ahead_ms)
