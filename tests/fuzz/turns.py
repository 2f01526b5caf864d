"""The turns of clients that give no ids: what each says, and that none is kept more often than it was said."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fuzz.checker import BrokenError
from fuzz.pieces import Form, Piece


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
        """What it says by now."""
        return self.forms[-1]


class Turns:
    """Every turn that was sent in a history since its thread was cleared last."""

    def __init__(self) -> None:
        self._sent: list[Turn] = []
        self._clock = 0

    def now(self) -> int:
        """A time that is later than any before."""
        self._clock += 1
        return self._clock

    def send(self, turns: Collection[Turn]) -> None:
        """From now on these may be there."""
        now = self.now()
        for turn in turns:
            turn.first, turn.sent = turn.first or now, now
            if turn not in self._sent:
                self._sent.append(turn)

    def remove(self, resource: str, threads: Collection[str], since: int, under_way: Collection[Turn]) -> None:
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

    def check(self, resource: str, found: Mapping[str, Collection[Piece]]) -> None:
        """None of them is kept more often than it was said."""
        first = [(each.thread, each.form) for some in found.values() for each in some if not each.after]
        for (thread, form), times in Counter(first).items():
            said = [t for t in self._sent if (t.resource, t.thread) == (resource, thread) and form in t.forms]
            most = len(said) + sum(turn.doubtful for turn in said)
            if times > most and not form.text.startswith("ok"):
                raise BrokenError(
                    f"{resource} {thread}: {form} was said {len(said)} times without an id, it is kept {times} times"
                )
