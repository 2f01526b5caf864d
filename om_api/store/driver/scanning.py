"""Walking over the key space slice by slice, on every primary of a Cluster one after the other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.store.driver.replies import command
from om_api.store.driver.steps import Node, Nodes, Steps, at

BEGINNING = "0"


class ScannedSlice(NamedTuple):
    """Keys that a slice of a walk met, by name, and where the walk goes on: `BEGINNING` once it has been everywhere."""

    names: list[bytes]
    place: str


def primaries() -> Steps[list[Node]]:
    """The servers that hold the keys, in the order in which a walk comes by."""
    return sorted(node for node in (yield from Nodes()) if node.primary)


def scan(nodes: Sequence[Node], place: str, *words: Any) -> Steps[ScannedSlice]:
    """The slice at a place, which holds the cursor and the node it is of; `words` are SCAN's, after the cursor.

    A node that is there no more ends its part, and the walk goes on at the one that follows; what moves from node to node
    meanwhile may be met twice or not at all, and is met by the next walk.
    """
    cursor, _, address = place.partition(" ")
    node = next((each for each in nodes if each.address >= address), nodes[-1])
    cursor = cursor if node.address == address else "0"
    cursor, names = yield from at(node, command(_slice, "SCAN", cursor, *words))
    return ScannedSlice(names, _following(nodes, node, cursor))


def _slice(reply: Any) -> tuple[str, list[bytes]]:
    return str(int(reply[0])), sorted(set(reply[1]))


def _following(nodes: Sequence[Node], node: Node, cursor: str) -> str:
    if cursor != "0":
        return f"{cursor} {node.address}".strip()
    later = [each.address for each in nodes if each.address > node.address]
    return f"0 {later[0]}" if later else BEGINNING
