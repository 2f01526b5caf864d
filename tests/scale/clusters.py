"""Three primaries with a replica each, whose slots move while everybody works; tasks wait on a server of their own."""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import redis
from chaos.plan import cast
from redis.crc import key_slot
from servers import Cluster, Server
from world import wait_until

_MOVED = 6  # slots at a time
_WHOLE_S = 30


class _Client(redis.RedisCluster):
    """redis-py's, whose clock is some node's."""

    def time(self, **_: Any) -> Any:
        return super().time(target_nodes="random")


class ClusterPlace:
    """Where a run's memories are. `failovers` and `moved` slots so far."""

    ahead_s = 0.0

    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "broker").mkdir(exist_ok=True)
        self._cluster = Cluster(folder / "nodes", 3)
        self._broker = Server(folder / "broker")
        self._dice = random.Random(seed)
        self._down: Any = None
        self._slots: list[int] = []  # of the primary that is away
        self.failovers = self.moved = 0
        self._held = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as held:
            held.enter_context(self._broker)
            held.enter_context(self._cluster)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def redis_url(self) -> str:
        return self._cluster.url

    @property
    def broker_url(self) -> str:
        return self._broker.url

    def client(self, _: int = 0, timeout: float = 10) -> Any:
        """redis-py's own client of the cluster."""
        return _Client(host="127.0.0.1", port=self._alive().port, socket_timeout=timeout)

    def waiting(self, queues: Sequence[str]) -> int:
        """How many tasks wait in queues of the broker; raises RedisError."""
        with self._broker.client() as broker:
            return sum(int(broker.llen(name)) for name in queues)

    def lose_broker(self) -> None:
        """Take every task there is."""
        with self._broker.client() as broker:
            broker.flushdb()

    def do(self, what: str) -> None:
        """Kill or cut off a primary and have it back once another node took its slots; or move slots."""
        verb = what.partition(" ")[0]
        if what == "move slots":
            self._move()
        elif verb in {"kill", "pause"}:
            wait_until(self._cluster.is_whole, "the cluster to be whole", _WHOLE_S)
            self._slots = [self._dice.randrange(16_384)]
            self._down = self._cluster.owner(self._slots[0])
            self._down.kill() if verb == "kill" else self._down.pause()
        else:
            self._bring_back(verb)

    def _bring_back(self, verb: str) -> None:
        away = self._down
        wait_until(lambda: self._owner(self._slots[0]) not in {None, away.port}, "a successor", _WHOLE_S)
        self.failovers += 1
        away.start() if verb == "start" else away.go_on()
        wait_until(self._cluster.is_whole, "the cluster to be whole", _WHOLE_S)

    def _owner(self, slot: int) -> int | None:
        """The port of a slot's primary, as a node says that is there."""
        with self._alive().client() as client:
            ranges = client.execute_command("CLUSTER SLOTS")
        return next((int(port) for start, end, (_, port, *_), *_ in ranges if start <= slot <= end), None)

    def _alive(self) -> Any:
        return next(node for node in self._cluster.nodes if node.runs and node is not self._down)

    def _move(self) -> None:
        """Move slots in which somebody's memory is, to any other primary, while everybody works on."""
        wait_until(self._cluster.is_whole, "the cluster to be whole", _WHOLE_S)
        names = self._dice.sample([member.name for member in cast()], _MOVED)
        for slot in {key_slot(name.encode()) for name in names}:
            source = self._cluster.owner(slot)
            others = {self._owner(n * 1_024) for n in range(16)} - {source.port}
            to = self._dice.choice(sorted(others))
            self._cluster.move(slot, next(node for node in self._cluster.nodes if node.port == to))
            self.moved += 1
