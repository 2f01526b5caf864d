"""Messages in pieces: what is kept of each, read from outside. One that grew after it was sealed is kept in several."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from fuzz.checker import Held, waiting
from fuzz.saying import Form


class Piece(NamedTuple):
    """A member of a raw set, a sealed one or a source: which part of which message, from which byte on."""

    id: str
    thread: str
    after: int
    form: Form
    raw: bool


def name_of(piece: str) -> str:
    """The id of the message that a piece with this id is of."""
    return piece.partition("+")[0]


def pieces(held: Held) -> dict[str, list[Piece]]:
    """All pieces that are kept, by the id of their message."""
    found: dict[str, list[Piece]] = defaultdict(list)
    for thread, raw, members in _places(held):
        for member, _ in members:
            if piece := _piece(member, thread, raw=raw):
                found[name_of(piece.id)].append(piece)
    return found


def uncounted(held: Held, some: list[Piece]) -> bool:
    """Whether any of these could be one that nobody counted yet."""
    return any(piece.raw for piece in some) and not waiting(held).isdisjoint({piece.thread for piece in some})


def _places(held: Held) -> Iterator[tuple[str, bool, Any]]:
    for thread, members in held.of("messages").items():
        yield thread, True, members
    for chunk, members in held.of("sealed").items():
        yield held.of("chunk").get(chunk, {}).get(b"thread", b"").decode(), False, members
    stored = [json.loads(m) for kind in ("observations", "reflected") for ms in held.of(kind).values() for m, _ in ms]
    threads = {observation["id"]: observation["thread_id"] for observation in stored}
    for name, members in held.of("source").items():
        yield threads.get(name, ""), False, members


def _piece(member: bytes, thread: str, *, raw: bool) -> Piece | None:
    try:
        fields = json.loads(member)
        name, content, role = fields["id"], fields["content"], fields["role"]
    except (ValueError, KeyError, TypeError):
        return None
    if role == "robot":
        return None
    link = (fields.get("metadata") or {}).get("continues", {})
    parts = (content,) if isinstance(content, str) else tuple(part["text"] for part in content)
    return Piece(name, thread, link.get("after", 0), Form(role, parts), raw)
