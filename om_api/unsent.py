"""Messages that wait in this process for a store that is away: bounded, and what did not fit is counted."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from om_api.values import encode_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from om_api.values import Message

MOST = 1_000  # messages
MOST_BYTES = 16 * 2**20  # of their JSON


class Unsent:
    """The newest messages that could not be sent, oldest first; beyond the bounds the oldest go, and `dropped` says how many.

    None of them was accepted: their writer was told so (`Receipt.added` is 0). Threads may share it.
    """

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._waiting: deque[tuple[Message, int]] = deque()
        self._guard = threading.Lock()
        self.weight = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Message]:
        with self._guard:
            return iter([message for message, _ in self._waiting])

    def extend(self, messages: Iterable[Message]) -> None:
        """Have messages wait behind the others."""
        sized = [(message, len(encode_message(message))) for message in messages]
        with self._guard:
            for message, size in sized:
                self._waiting.append((message, size))
                self.weight += size
                while len(self._waiting) > self._most or self.weight > self._most_bytes:
                    self.weight -= self._waiting.popleft()[1]
                    self.dropped += 1

    def sent(self, messages: Iterable[Message]) -> None:
        """Forget what was sent, and leave alone what somebody else has sent and forgotten meanwhile."""
        gone = {id(message) for message in messages}
        with self._guard:
            self._waiting = deque(entry for entry in self._waiting if id(entry[0]) not in gone)
            self.weight = sum(size for _, size in self._waiting)

    def told(self) -> int:
        """How many were dropped since this was asked last."""
        with self._guard:
            dropped, self.dropped = self.dropped, 0
            return dropped
