"""Three primaries with a replica each, whose slots move while everybody works; tasks wait on a server of their own."""

import random
from pathlib import Path
from typing import Any

import redis
from chaos.plan import cast
from chaos.server import Queued
from redis.crc import key_slot
from servers import Cluster, Server

from om_api.cli.embedded import HOST

_MOVED = 6  # slots at a time


class _Client(redis.RedisCluster):
    """redis-py's, whose clock is some node's."""

    def time(self, **_: Any) -> Any:
        return super().time(target_nodes="random")


class ClusterPlace(Queued, Cluster):
    """Where a run's memories are, and a server for its tasks. `failovers` and `moved` slots so far."""

    ahead_s = 0.0

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder / "nodes")
        self._broker = Server(folder / "broker")
        self._servers += (self._broker,)
        self._dice = random.Random(seed)
        self._down: Any = None
        self._slot = 0  # of the primary that is away
        self.failovers = self.moved = 0

    @property
    def redis_url(self) -> str:
        return self.url

    @property
    def broker_url(self) -> str:
        return self._broker.url

    def client(self, db: int = 0, timeout: float = 10) -> Any:
        """redis-py's own client of the cluster, 1: of the tasks' server."""
        if db:
            return self._broker.client(timeout=timeout)
        return _Client(host=HOST, port=self.running().port, socket_timeout=timeout)

    def do(self, what: str) -> None:
        """Kill or cut off a primary and have it back once another node took its slots; or move slots."""
        verb = what.partition(" ")[0]
        if verb in {"start", "resume"}:
            self._bring_back(verb)
            return
        self.wait_until_whole()
        if verb == "move":
            self._move()
            return
        self._slot = self._dice.randrange(16_384)
        self._down = self.owner(self._slot)
        self._down.kill() if verb == "kill" else self._down.pause()

    def _bring_back(self, verb: str) -> None:
        self.successor(self._slot, self._down)
        self.failovers += 1
        self._down.start() if verb == "start" else self._down.go_on()
        self.wait_until_whole()

    def _move(self) -> None:
        """Move slots in which somebody's memory is, to any other primary, while everybody works on."""
        names = self._dice.sample([member.name for member in cast()], _MOVED)
        for slot in {key_slot(name.encode()) for name in names}:
            others = {self.owner(n * 1_024) for n in range(16)} - {self.owner(slot)}
            self.move(slot, self._dice.choice(sorted(others, key=lambda node: node.number)))
            self.moved += 1
