"""The servers of a run with tasks elsewhere than memories.

Three primaries with a replica each, whose slots move while everybody works; or one server, and a RabbitMQ that is killed.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import redis
from chaos.plan import Run, cast
from chaos.server import AofServer, Queued
from rabbitmq import RabbitMQ
from redis.crc import key_slot
from servers import Cluster, Server

from om_api.broker import rabbitmq
from om_api.cli.embedded import HOST


class _Client(redis.RedisCluster):
    """redis-py's, whose clock is some node's."""

    def time(self, **_: Any) -> Any:
        return super().time(target_nodes="random")


class ClusterPlace(Queued, Cluster):
    """Where a run's memories are, and a server for its tasks."""

    def __init__(self, folder: Path, run: Run) -> None:
        super().__init__(folder / "nodes")
        self._broker = Server(folder / "broker")
        self._servers += (self._broker,)
        self._dice = random.Random(run.seed)
        self._down: Any = None
        self._slot = 0  # of the primary that is away

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
            self.successor(self._slot, self._down)
            self.failovers += 1
            self._down.start() if verb == "start" else self._down.go_on()
            self.wait_until_whole()
            return
        self.wait_until_whole()
        if verb == "move":
            self._move()
            return
        self._slot = self._dice.randrange(16_384)
        self._down = self.owner(self._slot)
        self._down.kill() if verb == "kill" else self._down.pause()

    def _move(self) -> None:
        """Move slots in which somebody's memory is, to any other primary, while everybody works on."""
        names = self._dice.sample([member.name for member in cast()], 6)
        for slot in {key_slot(name.encode()) for name in names}:
            others = {self.owner(n * 1_024) for n in range(16)} - {self.owner(slot)}
            self.move(slot, self._dice.choice(sorted(others, key=lambda node: node.number)))
            self.moved += 1


class RabbitPlace(AofServer):
    """Where a run's memories are; tasks wait in a RabbitMQ. Its starts after a kill are failovers."""

    def __init__(self, folder: Path, run: Run) -> None:
        super().__init__(folder, run.fsync)
        self._broker = RabbitMQ(folder / "rabbitmq")

    def __enter__(self) -> Self:
        self._broker.__enter__()
        return super().__enter__()  # which ends both if it fails

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._broker.__exit__()

    @property
    def broker_url(self) -> str:
        return self._broker.url

    def waiting(self, queues: Sequence[str]) -> int:
        """How many tasks wait in queues of the broker; raises StoreError."""
        return sum(rabbitmq.waiting(self.broker_url, queues, 2).values())

    def do(self, what: str) -> None:
        """Kill the broker, or start it again."""
        if what == "kill broker":
            self._broker.kill()
        else:
            self._broker.start()
            self.failovers += 1
