"""The server's time, as far as a process knows it without asking."""

from __future__ import annotations

import time

from om_api.store.memory.keys import WINDOW_MS


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
