"""A whole Cluster as one plain client, which asks any node and goes where it is sent: nothing of the product is in it."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot
from redis.exceptions import AskError, MovedError
from servers import BINARIES, Cluster

from fuzz.slots import Slots


class Everywhere(redis.Redis):
    """What the game itself looks at the store with; a key at a time, wherever the key is. `slots` are moved by it."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()  # a pool of which no connection is ever asked
        self.slots = Slots(cluster)
        self._nodes = {node.port: node.client() for node in cluster.primaries}
        self._any = next(iter(self._nodes))
        self._owners: dict[int, int] = {}

    def close(self) -> None:
        """Let connections go."""
        for node in self._nodes.values():
            node.close()

    def scan_iter(self, match: Any = None, count: int | None = None, *_: Any, **__: Any) -> Iterator[Any]:
        """Every key, wherever it is."""
        for node in self._nodes.values():
            yield from node.scan_iter(match, count)

    def unlink(self, *names: Any) -> int:
        """One after the other."""
        return sum(self.execute_command("UNLINK", name) for name in names)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """A command's reply, of the node that has its key."""
        port = self.port_of(args)
        while True:
            try:
                return self._nodes[port].execute_command(*args, **options)
            except MovedError as moved:
                port = self._owners[moved.slot_id] = moved.port
            except AskError as ask:
                pipe = self._nodes[ask.port].pipeline(transaction=False)
                pipe.execute_command("ASKING")
                pipe.execute_command(*args, **options)
                return pipe.execute()[1]

    def port_of(self, args: tuple[Any, ...]) -> int:
        """The node that had a command's key last."""
        if len(args) == 1 or args[0] == "INFO":
            return self._any
        return self._owners.get(key_slot(self.get_encoder().encode(args[1])), self._any)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Any:
        """Commands for later: nobody else acts while a game looks."""
        return _Later(self)

    def at(self, port: int) -> redis.Redis:
        """A node."""
        return self._nodes[port]


@contextlib.contextmanager
def started(folder: Path, binary: str = "") -> Iterator[Everywhere]:
    """A Cluster of three primaries while the block runs: of "redis", or of the embedded server."""
    binary = "embedded" if binary in {"", "1"} else binary
    with (
        # a machine that stands still for a second is no node that died
        Cluster(folder, replicas=False, timeout_ms=60_000, binary=BINARIES[binary]) as cluster,
        contextlib.closing(Everywhere(cluster)) as client,
    ):
        yield client


class _Later:
    """Commands that are sent at once to each node; what is not there is asked for by itself."""

    def __init__(self, client: Everywhere) -> None:
        self._client, self._commands = client, list[tuple[Any, ...]]()

    def execute_command(self, *args: Any) -> None:
        self._commands.append(args)

    def execute(self) -> list[Any]:
        by_port, found = defaultdict[int, list[int]](list), dict[int, Any]()
        for place, args in enumerate(self._commands):
            by_port[self._client.port_of(args)].append(place)
        for port, places in by_port.items():
            pipe = self._client.at(port).pipeline(transaction=False)
            for place in places:
                pipe.execute_command(*self._commands[place])
            found.update(zip(places, pipe.execute(raise_on_error=False), strict=True))
        elsewhere = [place for place, reply in found.items() if isinstance(reply, AskError)]  # MovedError is one
        found.update((place, self._client.execute_command(*self._commands[place])) for place in elsewhere)
        return [found[place] for place in range(len(self._commands))]
