"""Messages that wait in this process for a store that is away: bounded, and what did not fit is counted."""

import threading
from collections import deque
from collections.abc import Iterable, Iterator

from om_api.domain.wire import EncodedMessage

MOST = 1_000  # messages
MOST_BYTES = 16 * 2**20  # of their JSON


class Unsent:
    """The newest messages that could not be sent, oldest first; beyond the bounds the oldest go, and `dropped` counts them.

    None of them was accepted: `Receipt.held` names them. Threads may share it.
    """

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._waiting: deque[EncodedMessage] = deque()
        self._guard = threading.Lock()
        self.weight = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[EncodedMessage]:
        with self._guard:
            return iter(list(self._waiting))

    def extend(self, messages: Iterable[EncodedMessage]) -> list[EncodedMessage]:
        """Have messages wait behind the others; those that had to go for it."""
        gone = list[EncodedMessage]()
        with self._guard:
            for message in messages:
                self._waiting.append(message)
                self.weight += len(message.member)
                while len(self._waiting) > self._most or self.weight > self._most_bytes:
                    gone.append(self._waiting.popleft())
                    self.weight -= len(gone[-1].member)
        self.dropped += len(gone)
        return gone

    def sent(self, messages: Iterable[EncodedMessage]) -> None:
        """Forget what was sent, and leave alone what somebody else has sent and forgotten meanwhile."""
        gone = {id(message) for message in messages}
        with self._guard:
            self._waiting = deque(message for message in self._waiting if id(message) not in gone)
            self.weight = sum(len(message.member) for message in self._waiting)
