"""A primary with its replica, watched by three Sentinels: data and broker of a run, which fails over when the primary dies."""

import time
from pathlib import Path
from typing import Any

import redis
from chaos.plan import Run
from chaos.server import Queued
from redis.sentinel import MasterNotFoundError, Sentinel
from servers import AT_ONCE, BINARIES, Server, Several
from world import wait_until

from om_api.cli.embedded import HOST

_NAME = "mymaster"
# more than a failover-timeout, and no multiple of the 10 s after which Sentinels correct a replica's role
_GIVEN_UP_S = 7.0
_CONFIG = """
sentinel monitor {name} 127.0.0.1 {port} 2
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 4000
"""
_KEPT = ("--appendonly", "yes", "--appendfsync", "everysec", *AT_ONCE)
_FAILS_OVER_S = 60


class _Data(Server):
    """One of the two servers; it comes back as a replica of whoever is the primary then."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, *_KEPT)
        self._plain = self._command

    def follow(self, port: int) -> None:
        """As which one it starts the next time."""
        self._command = [*self._plain, "--replicaof", f"{HOST} {port}"]


class _Watcher(Server):
    """A Sentinel."""

    def __init__(self, folder: Path, primary: Server) -> None:
        super().__init__(folder)
        config = folder / "sentinel.conf"
        config.write_text(_CONFIG.format(name=_NAME, port=primary.port))
        self._command = [BINARIES["embedded"], str(config), *self._command[1:3], "--bind", HOST, "--sentinel"]


class SentinelPlace(Queued, Several):
    """Where a run's memories (db 0) and tasks (db 1) are: on whoever the Sentinels call the primary."""

    def __init__(self, folder: Path, _: Run) -> None:
        self._data = [_Data(folder / name) for name in ("one", "other")]
        self._data[1].follow(self._data[0].port)
        self._watchers = [_Watcher(folder / f"sentinel-{n}", self._data[0]) for n in range(3)]
        self._sentinel = Sentinel([(HOST, each.port) for each in self._watchers], socket_timeout=1)
        self._down: _Data | None = None
        self._before = self._data[0].port
        super().__init__(*self._data, *self._watchers)

    @property
    def redis_url(self) -> str:
        return f"redis+sentinel://{','.join(f'{HOST}:{each.port}' for each in self._watchers)}/{_NAME}/0"

    @property
    def broker_url(self) -> str:
        return self.redis_url[:-1] + "1"

    def client(self, db: int = 0, timeout: float = 10) -> Any:
        """A plain client of the primary, whoever that is."""
        return self._sentinel.master_for(_NAME, redis.Redis, db=db, socket_timeout=timeout)

    def do(self, what: str) -> None:
        """Kill, pause or replace the primary, or cut off its replica; and have what was away come back as a replica."""
        verb, _, whom = what.partition(" ")
        if what == "replace primary":
            self._replace()
        elif verb in {"start", "resume"}:
            self._bring_back(what)
        else:
            self.wait_until_whole()
            primary, replica = self._roles()
            self._down = primary if whom == "primary" else replica
            self._down.kill() if verb == "kill" else self._down.pause()

    def _bring_back(self, what: str) -> None:
        """A primary that was killed comes back as its successor's replica; one that was only away is told so by the Sentinels."""
        assert self._down is not None
        away = self._down.port
        if what.endswith("primary"):
            wait_until(lambda: self._count() != away, "a successor of the primary", _FAILS_OVER_S)
        if what.startswith("start"):
            self._down.follow(self._count())
            self._down.start()
        else:
            self._down.go_on()
        self._down = None
        self.wait_until_whole()

    def _replace(self) -> None:
        """Have the Sentinels make the replica the primary, although nothing is wrong with the one there is."""
        before, asked = self._before, 0.0

        def replaced() -> bool:
            """Whether it has; what a Sentinel gave up, because the replica was too slow to answer, is asked for again."""
            nonlocal asked
            if self._count() == before and time.monotonic() - asked > _GIVEN_UP_S and self._is_replacing():
                asked = time.monotonic()
            return self._count() != before

        wait_until(replaced, "the replica to be the primary", _FAILS_OVER_S)
        self.wait_until_whole()  # whoever was connected read there

    def _is_replacing(self) -> bool:
        """Whether a Sentinel took it upon itself; none does while it takes the replica for dead."""
        with self._watchers[0].client() as watcher:
            try:
                watcher.execute_command("SENTINEL", "FAILOVER", _NAME)
            except redis.ResponseError:
                return False
        return True

    def _count(self) -> int:
        """The primary's port, while there is none that of before; another one than before counts as a failover."""
        try:
            port = int(self._sentinel.discover_master(_NAME)[1])
        except MasterNotFoundError:
            return self._before
        self.failovers += port != self._before
        self._before = port
        return port

    def _roles(self) -> tuple[_Data, _Data]:
        port = self._count()
        one, other = self._data
        return (one, other) if one.port == port else (other, one)

    def is_whole(self) -> bool:
        """Whether the replica is in step, and every Sentinel knows it and the others."""
        primary, replica = self._roles()
        try:
            with primary.client(timeout=1) as client:
                linked = client.info("replication").get("slave0", {}).get("state") == "online"
            return linked and all(self._knows_all(each, replica) for each in self._sentinel.sentinels)
        except redis.RedisError:
            return False

    def _knows_all(self, watcher: Any, replica: _Data) -> bool:
        known = watcher.sentinel_masters()[_NAME]
        # who takes it for a primary still would make it a replica again while another Sentinel promotes it
        ports = {each["port"] for each in watcher.sentinel_slaves(_NAME) if each.get("role-reported") == "slave"}
        return known["num-other-sentinels"] == len(self._watchers) - 1 and replica.port in ports
