"""The server's time as a process believes it to be."""

from __future__ import annotations

import time

from om_api.store.memory.keys import WINDOW_MS
from om_api.store.memory.server_clock import ServerClock


def test_what_was_seen_of_the_servers_clock_is_believed_from_then_on():
    clock, ahead = ServerClock(), 3 * WINDOW_MS
    clock.seen(int(time.time() * 1000) + ahead)

    assert abs(clock.ms() - ahead - time.time() * 1000) < 1_000
    assert clock.window() == clock.ms() // WINDOW_MS
