"""A server with an append-only file that can be killed, paused, cut off and have its last writes taken.

Its clock is set ahead by libfaketime, which Debian has as a package.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servers import BINARIES, Server

_FAKETIME = ("lib/*/faketime/libfaketime.so.1", "lib*/faketime/libfaketime.so.1", "local/lib/faketime/libfaketime.so.1")


def faketime() -> str:
    """Where libfaketime is, `OM_CHAOS_FAKETIME` if it says so; '' where it is not."""
    found = (str(path) for place in _FAKETIME for path in Path("/usr").glob(place))
    return os.environ.get("OM_CHAOS_FAKETIME") or next(found, "")


class Queued:
    """What a run asks of the broker, which is `client(1)`, and what servers count: `failovers`, slots that were `moved`."""

    client: Any
    ahead_s = 0.0
    failovers = moved = 0

    def waiting(self, queues: Sequence[str]) -> int:
        """How many tasks wait in queues of the broker; raises RedisError."""
        with self.client(1, timeout=2) as broker:
            return sum(int(broker.llen(name)) for name in queues)

    def lose_broker(self) -> None:
        """Take every task there is."""
        with self.client(1) as broker:
            broker.flushdb()


class AofServer(Queued, Server):
    """The data (db 0) and the broker (db 1) of a run. `OM_CHAOS_SERVER` names another binary than the embedded one.

    With each start but the first its clock is `leap_s` further ahead: `ahead_s` by now.
    """

    def __init__(self, folder: Path, fsync: str, leap_s: float = 0) -> None:
        named = os.environ.get("OM_CHAOS_SERVER", BINARIES["embedded"])
        binary = shutil.which(named) or named  # never resolved: Debian's redis-server is a link that acts by its name
        kept = ("--appendonly", "yes", "--appendfsync", fsync, "--aof-load-truncated", "yes")
        super().__init__(folder, *kept, binary=binary)
        self._leap_s = leap_s

    @property
    def redis_url(self) -> str:
        return self.url

    @property
    def broker_url(self) -> str:
        return self.url.replace("/0", "/1")

    def start(self) -> None:
        if self.pid and self._leap_s:
            self.ahead_s += self._leap_s
            fake = {"LD_PRELOAD": faketime(), "FAKETIME": f"+{self.ahead_s:.0f}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            self.environ = {**os.environ, **fake}
        super().start()

    def cut_tail(self, most: int) -> int:
        """Take up to `most` bytes off the end of the file, as a power failure does; how many it took."""
        files = (self.folder / "appendonlydir").glob("*.incr.aof")
        newest = max(files, key=lambda path: int(path.name.split(".")[-3]))
        took = min(most, newest.stat().st_size)
        os.truncate(newest, newest.stat().st_size - took)
        return took

    def drop_connections(self) -> int:
        """Have the server close every connection; how many they were."""
        kinds = ("normal", "pubsub")
        with self.client() as client:
            return sum(int(client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")) for kind in kinds)
