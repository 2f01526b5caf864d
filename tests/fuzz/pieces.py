"""Messages in pieces: what is kept of each, read from outside. One that grew after it was sealed is kept in several."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from fuzz.checker import Held, waiting


class Form(NamedTuple):
    """What a message says: its role, and the texts of its parts."""

    role: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it; no two forms of one id say the same all in all."""
        return "".join(self.parts)

    @property
    def content(self) -> str | list[dict[str, Any]]:
        """As a message has it: a text if it is one part."""
        parts = [{"type": "text", "text": text} for text in self.parts]
        return self.parts[0] if len(parts) == 1 else parts


def said(text: str, role: str = "user") -> Form:
    """A form of one text."""
    return Form(role, (text,))


def goes_on(kept: Form, comes: Form) -> bool:
    """Whether what was kept is all of what comes, or a beginning: the same parts and then more, or a longer text."""
    whole, last, n = kept.parts[:-1], kept.parts[-1], len(kept.parts)
    alike = kept.role == comes.role and whole == comes.parts[: n - 1] and len(comes.parts) >= n
    return alike and comes.parts[n - 1].startswith(last)


class Kept(NamedTuple):
    """What is kept under an id, and whether all of that is raw. `form` None: the id is not known."""

    form: Form | None
    raw: bool = True

    def given(self, comes: Form, *, replace: bool) -> tuple[str, "Kept"]:
        """The word of the receipt for what comes, and what is kept then."""
        if self.form is None:
            return "added", Kept(comes)
        if self.form == comes:
            return "duplicates", self
        if goes_on(self.form, comes):
            return "grown", Kept(comes, self.raw)
        if not replace and self.raw and goes_on(comes, self.form):
            return "duplicates", self
        return ("replaced", Kept(comes)) if replace and self.raw else ("changed", self)


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
