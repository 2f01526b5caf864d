"""Messages that wait in this process for a store that is away: bounded, and what did not fit is counted."""

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from om_api.client.remembered.spool import Spool
from om_api.domain.wire import EncodedMessage

MOST = 1_000  # messages
MOST_BYTES = 16 * 2**20  # of their JSON


class ValueKeeper(Protocol):
    """Holds the encrypted values of redacted messages (om_api/client/redacting.py)."""

    def sealed_in(self, resource: str, member: bytes) -> dict[str, bytes]:
        """The values of a message."""
        ...

    def restore(self, resource: str, member: bytes, sealed: Mapping[str, bytes]) -> None:
        """Take over the values of a message that another process prepared."""
        ...


class Unsent:
    """The newest messages that could not be sent, oldest first; beyond the bounds the oldest go, and `dropped` counts them.

    None of them was accepted: `Receipt.held` names them. Threads may share it. With a `spool` they are in its file too, which
    also holds those of processes that have ended; a row is removed when its message was sent or dropped.
    """

    def __init__(
        self,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
        spool: Spool | None = None,
        redacting: ValueKeeper | None = None,
    ) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._waiting: deque[EncodedMessage] = deque()
        self._rows: dict[int, int] = {}  # of the spool, by the identity of their messages
        self._spool, self._redacting = spool, redacting
        self._guard = threading.Lock()
        self.weight = 0
        self.dropped = 0
        self._read()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[EncodedMessage]:
        with self._guard:
            return iter(list(self._waiting))

    @property
    def is_spooled(self) -> bool:
        """Whether all waiting messages are in the file."""
        return self._spool is not None and all(id(message) in self._rows for message in self)

    def extend(self, messages: Iterable[EncodedMessage]) -> list[EncodedMessage]:
        """Append messages; returns those that were dropped to make room."""
        given, gone = list(messages), list[EncodedMessage]()
        with self._guard:
            if self._spool and self._redacting:
                rows = self._spool.add(given, self._redacting.sealed_in)
                self._rows |= {id(message): row for message, row in zip(given, rows, strict=False)}
            for message in given:
                self._waiting.append(message)
                self.weight += len(message.member)
                while len(self._waiting) > self._most or self.weight > self._most_bytes:
                    gone.append(self._waiting.popleft())
                    self.weight -= len(gone[-1].member)
            self.dropped += len(gone)
            self._forget(gone)
        return gone

    def sent(self, messages: Iterable[EncodedMessage]) -> None:
        """Forget what was sent, and leave alone what somebody else has sent and forgotten meanwhile."""
        done = list(messages)
        gone = {id(message) for message in done}
        with self._guard:
            self._waiting = deque(message for message in self._waiting if id(message) not in gone)
            self.weight = sum(len(message.member) for message in self._waiting)
            self._forget(done)
        if not self._waiting and done:
            self._read()

    def close(self) -> None:
        """Close the spool; the file stays."""
        if self._spool:
            self._spool.close()

    def _forget(self, messages: Iterable[EncodedMessage]) -> None:
        rows = [row for message in messages if (row := self._rows.pop(id(message), None)) is not None]
        if self._spool and rows:
            self._spool.remove(rows)

    def _read(self) -> None:
        """Append the messages of the spool, also those of processes that have ended, as far as there is room."""
        if self._spool is None or self._redacting is None:
            return
        with self._guard:
            known = set(self._rows.values())
            for row, message, sealed in self._spool.read(self._most):
                if row in known or self.weight + len(message.member) > self._most_bytes:
                    continue
                self._redacting.restore(message.message.resource_id, message.member, sealed)
                self._waiting.append(message)
                self._rows[id(message)] = row
                self.weight += len(message.member)
