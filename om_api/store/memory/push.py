"""How our library's messages are accepted: those of one resource in one step, which may be repeated."""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.errors import StoreError
from om_api.domain.values import Scope
from om_api.domain.wire import EncodedMessage, fingerprint
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import WINDOW_MS, Keys

BATCH = 500  # messages of one script call; a larger batch is several calls
TRIES = 5
_CLOCK = "!clock"


class Pushed(NamedTuple):
    """What became of a batch: how many were added, the ids of duplicates, the scopes that are due, server time."""

    added: int
    duplicates: tuple[str, ...]
    due: tuple[str, ...]
    now: int


class ServerClock:
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


def push(
    keys: Keys,
    clock: ServerClock,
    resource: str,
    messages: Sequence[EncodedMessage],
    *,
    thread_scope: bool = False,
    mark: bool = True,
) -> Steps[Pushed]:
    """Add messages of one resource; each has id, thread_id, tokens and at. Atomic per 500 messages; safe to repeat."""
    of, threads = keys.of(resource), _by_thread(messages)
    words = _words(resource, threads)
    for _ in range(TRIES):
        window = clock.window()
        names = [of.tokens, keys.due_observe if mark else of.tokens]
        for thread in threads:
            names += [of.messages(thread), of.seen(thread, window), of.seen(thread, window - 1)]
        fixed = [window, WINDOW_MS, int(mark), "thread" if thread_scope else "resource", resource, new_signing_key()]
        now, due, positions = yield from Verb("push", names, [*fixed, *words], _said)
        clock.seen(now)
        if due != _CLOCK:
            duplicates = _ids(threads, positions)
            return Pushed(len(messages) - len(duplicates), duplicates, tuple(due.split()), now)
    raise StoreError("the server's clock jumps: nothing was added. Mend the server's time, then repeat.", stored=False)


def _said(reply: Any) -> tuple[int, str, Sequence[int]]:
    """The server's time, the scopes that are due or `!clock`, and the positions of duplicates."""
    return int(reply[0]), reply[1].decode(), reply[2:]


def new_signing_key() -> str:
    """A key for a resource to sign its contexts with."""
    return secrets.token_hex(16)


def _by_thread(messages: Sequence[EncodedMessage]) -> dict[str, list[EncodedMessage]]:
    threads: dict[str, list[EncodedMessage]] = {}
    for each in messages:
        threads.setdefault(each.message.thread_id, []).append(each)
    return threads


def _words(resource: str, threads: Mapping[str, Sequence[EncodedMessage]]) -> list[Any]:
    words: list[Any] = []
    for thread, own in threads.items():
        words += [thread, str(Scope(resource, thread)), len(own)]
        for message, member in own:
            words += [message.at, member, message.id, fingerprint(member), message.tokens or 0]
    return words


def _ids(threads: Mapping[str, Sequence[EncodedMessage]], positions: Sequence[int]) -> tuple[str, ...]:
    """The ids at some positions, which the script counts over all threads."""
    if not positions:
        return ()
    laid_out = [each.message.id for own in threads.values() for each in own]
    return tuple(laid_out[position] for position in positions)
