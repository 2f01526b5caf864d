"""Slots on their way from one node to another, and the product's client of a Cluster, which stops before it asks a node."""

import random
import threading
from collections.abc import Sequence
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from typing import Any

import hiredis
import redis
from redis.crc import key_slot
from redis.exceptions import AskError, MovedError, ResponseError, TryAgainError
from servers import BINARIES, Cluster, Migration

from fuzz.activity import current, performed
from fuzz.checker import BrokenError
from om_api.store.driver.cluster import ClusterClient

_AT_ONCE = 3  # slots on their way
_OFTEN = 0.06  # of all requests: a slot moves before it
_IN_A_ROW = 8  # nobody who goes where they are sent is sent on as often
_PATIENCE_S = 3_600.0  # who is stopped has all the time


class Slots:
    """Which slots are on their way, and what moves them on: verbs, now and then any request, and whoever waits for one."""

    def __init__(self, cluster: Cluster):
        self.dice = random.Random(0)
        self._cluster, self._moving = cluster, dict[int, Migration]()
        self._homes = dict[int, Any]()  # where slots were at first
        self._owners = dict[int, Any]()  # where they are, or are going
        self._sent_on = 0  # requests in a row
        self._guard = threading.RLock()  # a thread that no game leads may come at any time

    def leave(self, slot: int):
        """A slot sets out for another node: who asks for a key that is gone, or was never there, is sent on (ASK)."""
        with self._guard:
            if slot in self._moving or len(self._moving) >= _AT_ONCE:
                return
            owner = self._owners.get(slot) or self._cluster.owner(slot)
            self._homes.setdefault(slot, owner)
            to = self.dice.choice([node for node in self._cluster.primaries if node is not owner])
            self._moving[slot], self._owners[slot] = Migration(self._cluster, slot, to), to
            self._moving[slot].begin()

    def go_on(self, slot: int | None = None):
        """The next keys of a slot go: who asks for several keys has to wait (TRYAGAIN). Where none is left it has arrived."""
        with self._guard:
            moving, n = self._moving.get(slot) if slot is not None else self._one(), self.dice.choice([2, 20, 100])
            if moving and moving.move(n) < n:
                self._end(moving)

    def arrive(self):
        """All of a slot is there: who goes by what they know is sent on (MOVED)."""
        with self._guard:
            if moving := self._one():
                self._end(moving)

    def stir(self, key: bytes):
        """Mostly nothing; else the slot of a key that is about to be asked for leaves, or another one goes on."""
        if self.dice.random() < _OFTEN:
            self.dice.choice([lambda: self.leave(key_slot(key)), self.go_on, self.arrive])()

    def met(self, refusals: Sequence[tuple[bytes, Exception]]) -> list[str]:
        """Somebody was told to ask for keys elsewhere, or later; a slot that is waited for goes on. What they were told."""
        told = {TryAgainError: "TRYAGAIN", AskError: "ASK", MovedError: "MOVED"}
        words = [told[type(error)] for _, error in refusals if type(error) in told]
        for slot in _waited_for(refusals):
            self.go_on(slot)
        self._sent_on = self._sent_on + 1 if {"ASK", "MOVED"}.intersection(words) else 0
        if self._sent_on > _IN_A_ROW:
            raise BrokenError(f"somebody is sent on for ever: {refusals}")
        return words

    def give_way(self, refusals: Sequence[tuple[bytes, Exception]]):
        """A thread that no game leads was told to ask later: what it waits for arrives, for nobody else would move it."""
        with self._guard:
            for moving in [self._moving[slot] for slot in _waited_for(refusals) & self._moving.keys()]:
                self._end(moving)

    def rest(self):
        """Every slot arrives, and goes home; nodes forget all scripts, so that each game begins alike."""
        with self._guard:
            for moving in [*self._moving.values()]:
                self._end(moving)
        for slot, home in self._homes.items():
            if self._owners.pop(slot) is not home:
                self._cluster.move(slot, home)
        self._homes.clear()
        for node in self._cluster.primaries:
            node.client().script_flush()

    def _one(self) -> Migration | None:
        return self._moving[self.dice.choice(sorted(self._moving))] if self._moving else None

    def _end(self, moving: Migration):
        while moving.move(100):
            pass
        moving.finish()
        del self._moving[moving.slot]

    def stoppable(self) -> "StoppableCluster":
        """A client of the product's, that knows of no slot yet."""
        seeds = [f"127.0.0.1:{node.port}" for node in self._cluster.primaries]
        return StoppableCluster(seeds, lambda address: _Node(address, self), _PATIENCE_S)


class Everywhere(redis.RedisCluster):
    """redis-py's client of a whole Cluster, with which the game itself looks at the store; `slots` are moved by it."""

    def __init__(self, cluster):
        super().__init__(host="127.0.0.1", port=cluster.primaries[0].port)
        self.slots = Slots(cluster)


@contextmanager
def started(folder, binary=""):
    """A Cluster of three primaries while the block runs: of "redis", or of the embedded server."""
    binary = BINARIES["embedded" if binary in {"", "1"} else binary]
    with (
        # a machine that stands still for a second is no node that died
        Cluster(folder, replicas=False, timeout_ms=60_000, binary=binary) as cluster,
        closing(Everywhere(cluster)) as client,
    ):
        yield client


class StoppableCluster(ClusterClient):
    def close(self):
        for node in self.clients:
            node.close()


class _Node(redis.Redis):
    """A node, and its pool, whose connections stop before each request."""

    def __init__(self, address: str, slots: Slots):
        host, _, port = address.rpartition(":")
        super().__init__(host=host, port=int(port))
        self._pool, self._slots = self.connection_pool, slots
        self.connection_pool = self
        self.connection_class = redis.Connection

    def get_connection(self) -> "_Line":
        return _Line(self._pool.get_connection(), self._slots)

    def release(self, line: "_Line"):
        self._pool.release(line.connection)

    def close(self):
        self._pool.disconnect()


class _Line:
    """A connection that has the replies to a request as soon as it was sent; between two requests slots may move."""

    def __init__(self, connection: Any, slots: Slots):
        self.connection, self._slots = connection, slots
        self._replies: list[Any] = []

    def disconnect(self):
        self.connection.disconnect()

    def read_response(self) -> Any:
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def send_packed_command(self, packed: list[bytes]):
        reader = hiredis.Reader()
        reader.feed(b"".join(packed))
        commands = [tuple(command) for command in iter(reader.gets, False)]
        told = [command for command in commands if command[0] not in {b"ASKING", b"MULTI"}]
        words = [word.decode(errors="replace") for word in told[0][:3]]
        more = [f"+{len(told) - 1}"] if told[1:] else []
        with suppress(ResponseError):  # it is among the replies
            performed((*words[: 3 - len(more)], *more), lambda: self._exchange(commands))

    def _exchange(self, commands: list[tuple[bytes, ...]]) -> Any:
        """Ask; the last reply, which is that of EXEC if there is one.

        Heartbeats, and threads that a worker waits for, come at any time: they move nothing but what they wait for.
        """
        activity = current()
        plays = activity or threading.current_thread() is threading.main_thread()
        if plays:
            self._slots.stir(next(filter(None, map(_key, commands)), b""))
        if activity and activity.dies_now and commands[0][0] != b"MULTI":
            commands = commands[: -(-len(commands) // 2)]  # the server never got the rest
        self.connection.send_packed_command([hiredis.pack_command(command) for command in commands])
        self._replies = []
        for _ in commands:
            try:
                self._replies.append(self.connection.read_response())
            except ResponseError as error:
                self._replies.append(error)
        asked = accumulate(map(_key, commands), lambda before, own: own or before)
        refusals = [each for each in zip(asked, self._replies, strict=True) if isinstance(each[1], Exception)]
        told = self._slots.met(refusals) if plays else self._slots.give_way(refusals)
        if activity:
            activity.log += told
        last = self._replies[-1]
        if isinstance(last, ResponseError):
            raise last
        return last


def _waited_for(refusals: Sequence[tuple[bytes, Exception]]) -> set[int]:
    return {key_slot(key) for key, error in refusals if isinstance(error, TryAgainError)}


def _key(command: tuple[bytes, ...]) -> bytes:
    return command[3] if command[0].startswith(b"EVAL") else command[1] if command[1:] else b""
