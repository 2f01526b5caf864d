"""How our library's messages are accepted: those of one resource in one step, which may be repeated."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from om_api.domain.errors import RateLimitedError
from om_api.domain.identity import KnownId, record_of
from om_api.domain.push_limits import UNLIMITED, PushPace
from om_api.domain.values import Scope
from om_api.domain.wire import EncodedMessage
from om_api.store.driver.partitions import asked
from om_api.store.driver.steps import Replicas, Steps, Verb
from om_api.store.memory.keys import Keys

BATCH = 500  # messages of one script call; a larger batch is several calls
NO_HISTORY, WHATEVER, INSIDE = b"-", b"!", b"."
_Ids: TypeAlias = tuple[str, ...]
_Others: TypeAlias = tuple[tuple[EncodedMessage, KnownId], ...]
JUST_AHEAD_MS = 1_000  # by which clocks of machines differ that are set by NTP, with room: not worth a word
_APART, _LIMITED, _ALIAS = "!apart", "!limited", "!alias"
_Said: TypeAlias = tuple[int, str, list[tuple[int, bytes]]]


class Pushed(NamedTuple):
    """What became of a batch: how many were added, the ids of those that are kept as they are, and which say otherwise.

    `ahead` are ids of messages that were added and dated more than a second ahead of the server, which are ordered by its time
    instead, `ahead_ms` is the most. `due` names scopes, `now` is the server's time (Unix ms), `apart` is of a history that does
    not go on where the thread ended. With an `alias` nothing was added: a name, and the thread that it stands for ("": for none).
    """

    added: int
    duplicates: _Ids
    other: _Others
    due: tuple[str, ...]
    now: int
    apart: bool = False
    alias: tuple[str, str] | None = None
    ahead: _Ids = ()
    ahead_ms: int = 0


class ServerClock:
    """The server's clock as last seen."""

    def __init__(self) -> None:
        self.offset_ms = 0

    def ms(self) -> int:
        """The time the server is believed to have."""
        return int(time.time() * 1000 + self.offset_ms)

    def seen(self, now_ms: int) -> None:
        """Learn the server's time from a reply."""
        self.offset_ms = now_ms - int(time.time() * 1000)


def push(
    keys: Keys,
    clock: ServerClock,
    resource: str,
    messages: Sequence[EncodedMessage],
    *,
    before: bytes = NO_HISTORY,
    thread_scope: bool = False,
    mark: bool = True,
    pace: PushPace = UNLIMITED,
    replicas: Replicas | None = None,
    through: Mapping[str, str] | None = None,
) -> Steps[Pushed]:
    """Add messages of one resource; each has id, thread_id, tokens and at. Atomic per 500 messages; safe to repeat.

    `before` are the records of a thread's history that these are the end of: should one of them not be known, or the thread
    have gone on otherwise, the push is `apart` and adds nothing. With WHATEVER they are the end in any case, INSIDE
    they are not; with a `head` behind it, unless the thread ended with another id meanwhile. `through` are aliases by which
    messages came, with the threads that they must still stand for.
    Raises RateLimitedError, with nothing added, for what `pace` does not permit; NotReplicatedError unless `replicas` hold it.
    """
    threads, names = _by_thread(messages), through or {}
    fixed = [int(mark), "thread" if thread_scope else "resource", resource, new_signing_key(), pace.words()]
    said = [*_stand_for(names), *_words(resource, threads, before)]
    write = partial(_write, keys, resource, [*names, *threads], pace, [*fixed, *said], replicas)
    now, due, known = yield from (asked(keys.layout, write) if mark else write(mark=False))
    clock.seen(now)
    if due == _LIMITED:
        raise _limited(resource, pace, *known[0])
    return _pushed(threads, len(messages), now, due, known)


def _pushed(
    threads: Mapping[str, Sequence[EncodedMessage]], given: int, now: int, due: str, known: Sequence[Any]
) -> Pushed:
    """What became of messages, by what the script says of them."""
    if due == _ALIAS:
        return Pushed(0, (), (), (), now, alias=_named(*known[0]))
    if due == _APART:
        return Pushed(0, (), (), (), now, apart=True)
    told = _told(threads, known) if known else ((), ())
    pushed = Pushed(given - len(known), *told, tuple(due.split()), now)
    there = {position for position, _ in known}
    laid_out = (each for own in threads.values() for each in own)
    new = (each.message for n, each in enumerate(laid_out) if each.dated and n not in there)
    ahead = {message.id: message.at - now for message in new if message.at > now + JUST_AHEAD_MS}
    return pushed._replace(ahead=tuple(ahead), ahead_ms=max(ahead.values())) if ahead else pushed


def _told(threads: Mapping[str, Sequence[EncodedMessage]], known: Sequence[tuple[int, bytes]]) -> tuple[_Ids, _Others]:
    """Of what was known the ids of those that are kept as they are, and which say otherwise."""
    laid_out = [each for own in threads.values() for each in own]
    ids = tuple(laid_out[position].message.id for position, record in known if not record)
    return ids, tuple((laid_out[position], KnownId.of(record)) for position, record in known if record)


def _write(
    keys: Keys,
    resource: str,
    threads: Iterable[str],
    pace: PushPace,
    args: Sequence[Any],
    replicas: Replicas | None,
    *,
    mark: bool = True,
) -> Verb[_Said]:
    of, pusher = keys.of(resource), pace.pusher.id
    names = [of.tokens, keys.due_observe.of(resource) if mark else of.tokens]
    names += [of.pace, of.pace_of(pusher) if pusher else of.pace]
    for thread in threads:
        names += [of.messages(thread), of.known(thread)]
    return Verb("push", names, args, _said, replicas)


def _stand_for(through: Mapping[str, str]) -> list[Any]:
    return [word for alias, thread in through.items() for word in (alias, "", thread, 0)]


def _named(alias: Any, thread: bytes) -> tuple[str, str]:
    return alias.decode(), thread.decode()


def _limited(resource: str, pace: PushPace, which: int, wait_ms: Any) -> RateLimitedError:
    wait = int(wait_ms) / 1000
    text = f"{pace.refusal(which, resource)}: none of these was kept; repeat the call with the same ids in {wait:.3g} s"
    return RateLimitedError(text, retry_after=wait)


def _said(reply: Any) -> _Said:
    """The server's time; what is due, or a word behind `!`; the position of what was known and, if it differs, the record.

    Behind `!limited` stand the number of the limit, and for how many ms; behind `!alias` that, and its thread.
    """
    return int(reply[0]), reply[1].decode(), [*zip(reply[2::2], reply[3::2], strict=True)]


def replicas_of(keys: Keys, resource: str, count: int, seconds: float) -> Replicas | None:
    """How many replicas a push of a resource waits for, and how long; None for none."""
    return Replicas(count, round(seconds * 1000), keys.of(resource).lock("replicated")) if count else None


def new_signing_key() -> str:
    """A key for a resource to sign its contexts with."""
    return os.urandom(16).hex()


def _by_thread(messages: Sequence[EncodedMessage]) -> dict[str, list[EncodedMessage]]:
    threads: dict[str, list[EncodedMessage]] = {}
    for each in messages:
        threads.setdefault(each.message.thread_id, []).append(each)
    return threads


def _words(resource: str, threads: Mapping[str, Sequence[EncodedMessage]], history: bytes) -> list[Any]:
    words: list[Any] = []
    for thread, own in threads.items():
        words += [thread, str(Scope(resource, thread)), history, len(own)]
        for each in own:
            words += [each.message.at, each.member, record_of(each.message), each.message.tokens or 0]
    return words
