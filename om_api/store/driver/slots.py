"""Slots of a Redis Cluster: which one a command belongs to, and which node serves it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from om_api.store.driver.replies import fields
from om_api.store.driver.steps import Node, Words

SLOTS = REDIS_CLUSTER_HASH_SLOTS
_KEYLESS = {"ACL", "CLIENT", "CLUSTER", "CONFIG", "DBSIZE", "ECHO", "INFO", "PING", "SCAN", "SCRIPT", "TIME", "WAIT"}
_SCRIPT = {"EVAL", "EVALSHA"}


def slot_of(command: Words) -> int | None:
    """The slot of a command's first key; None where it has none. A server refuses one whose keys are of several slots."""
    name = str(command[0]).upper().partition(" ")[0]
    if name in _KEYLESS:
        return None
    if name in _SCRIPT:
        return _slot(command[3]) if int(command[2]) else None
    if name == "XREAD":
        return _slot(command[command.index("STREAMS") + 1])
    return _slot(command[1])


def _slot(key: str | bytes) -> int:
    return key_slot(key.encode() if isinstance(key, str) else bytes(key))


class SlotMap:
    """Which node serves which slot, as one of them told it: the reply of CLUSTER SLOTS, and who gave it."""

    def __init__(self, reply: Sequence[Any] = (), asked: str = "") -> None:
        self._owners: list[str | None] = [None] * SLOTS
        found: dict[str, Node] = {}
        for start, end, *nodes in reply:
            first, *others = _addresses(nodes, asked)
            self._owners[start : end + 1] = [first] * (end + 1 - start)
            found |= {first: Node(first)} | {other: Node(other, primary=False) for other in others}
        self.nodes = tuple(found.values())

    def owner(self, slot: int) -> str | None:
        """The address of the node that serves a slot; None where nobody does."""
        return self._owners[slot]

    def moved(self, slot: int, address: str) -> None:
        """Note who serves a slot now."""
        self._owners[slot] = address


def addresses_of(reply: Sequence[Any], asked: str, *, secure: bool) -> list[str]:
    """Every node as CLUSTER SHARDS tells it: those too that are down, or not in step yet. `secure`: by their ports for TLS."""
    told = [fields(node) for shard in map(fields, reply) for node in shard[b"nodes"]]
    port = b"tls-port" if secure else b"port"
    return list(_addresses(((node.get(b"endpoint"), node.get(port) or node.get(b"port")) for node in told), asked))


def _addresses(nodes: Iterable[Any], asked: str) -> Iterator[str]:
    host = asked.rpartition(":")[0]
    for name, port, *_ in nodes:  # a node that does not know its own name is the one that was asked
        yield address(name.decode() if name and name != b"?" else host, port)


def address(host: str, port: int) -> str:
    """How a node is called here."""
    return f"{host}:{port}"
