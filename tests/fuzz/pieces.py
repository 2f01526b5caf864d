"""What messages say: the pieces in which they are stored, read from outside, and the turns of clients that give no ids."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fuzz.checker import BrokenError, Held, waiting


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
        parts = [{"type": "text", "text": text} for text in self.parts]
        return self.parts[0] if len(parts) == 1 else parts


def said(text: str, role: str = "user") -> Form:
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
    return piece.partition("+")[0]


def pieces(held: Held) -> dict[str, list[Piece]]:
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
    threads = {each["id"]: each["thread_id"] for each in held.everything("observations", "reflected")}
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


@dataclass(eq=False)
class Turn:
    """One turn of a history: what it said first, and what it says by now.

    `first` and `sent` are when it was sent first and last, 0 for never. It may be kept as many times more as it was
    `doubtful`: nobody can say whether it is said again.
    """

    resource: str
    thread: str
    forms: list[Form]
    id: str = ""
    name: str = ""
    first: int = 0
    sent: int = 0
    names: set[str] = field(default_factory=set)
    doubtful: int = 0

    @property
    def form(self) -> Form:
        return self.forms[-1]


class Turns:
    """Every turn that was sent in a history since its thread was cleared last."""

    def __init__(self):
        self._sent: list[Turn] = []
        self._clock = 0

    def now(self) -> int:
        self._clock += 1
        return self._clock

    def send(self, turns: Collection[Turn]):
        now = self.now()
        for turn in turns:
            turn.first, turn.sent = turn.first or now, now
            if turn not in self._sent:
                self._sent.append(turn)

    def remove(self, resource: str, threads: Collection[str], since: int, under_way: Collection[Turn]):
        """What was sent before is gone, but for what was under way."""
        own = [turn for turn in self._sent if turn.resource == resource and turn.thread in threads]
        gone = [turn for turn in own if turn.sent < since and turn not in under_way]
        for turn in gone:
            turn.first, turn.sent, turn.name = 0, 0, ""
        self._sent = [turn for turn in self._sent if turn not in gone]

    def forms(self, resource: str, thread: str, first: Form) -> set[Form]:
        """What a message without an id may say that began so."""
        own = [turn for turn in self._sent if (turn.resource, turn.thread) == (resource, thread)]
        return {form for turn in own if first in turn.forms for form in turn.forms}

    def check(self, resource: str, found: Mapping[str, Collection[Piece]]):
        """None of them is kept more often than it was said."""
        first = [(each.thread, each.form) for some in found.values() for each in some if not each.after]
        for (thread, form), times in Counter(first).items():
            said = [t for t in self._sent if (t.resource, t.thread) == (resource, thread) and form in t.forms]
            most = len(said) + sum(turn.doubtful for turn in said)
            if times > most and not form.text.startswith("ok"):
                raise BrokenError(
                    f"{resource} {thread}: {form} was said {len(said)} times without an id, it is kept {times} times"
                )
