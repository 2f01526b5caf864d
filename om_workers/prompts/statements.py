"""Notes taken apart for the check: each line with its importance, its place and its facts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from om_api.domain import note_lines
from om_api.patterns.pattern import Pattern
from om_workers.prompts.facts import Fact, FactKind, facts, leading
from om_workers.prompts.lines import MARKS, USUAL, is_reading, priority_of
from om_workers.prompts.threads import is_thread_tag

IMPORTANT, DONE = MARKS["🔴"], MARKS["✅"]
_NESTED = Pattern(r"(?:\t|  +)\S")


class Statement(NamedTuple):
    """One line: what it says after its mark and time, its priority, and from oldest 0 to newest 1 its place.

    `header` is a date above others, `nested` a detail of the line above.
    """

    text: str
    priority: int
    place: float
    header: bool
    nested: bool
    facts: tuple[Fact, ...]

    @property
    def kind(self) -> FactKind | None:
        """The kind that the whole line is looked for as; None for details and dates above lines."""
        if self.nested or self.header:
            return None
        return {IMPORTANT: FactKind.IMPORTANT, DONE: FactKind.DONE}.get(self.priority, FactKind.LINE)


def statements(texts: Sequence[str]) -> list[Statement]:
    """The lines of notes, oldest first, without empty ones, thread tags, and what is only a reading of other lines."""
    raw = [line for text in texts for line in text.split("\n") if line.strip() and not is_thread_tag(line)]
    said = [note_lines.body(line) for line in raw]
    read = [facts(body) for body in said]
    named = {fact.key for some in read for fact in some if fact.kind is FactKind.NAME}
    last = max(len(raw) - 1, 1)
    lines, priority, skipped = list[Statement](), USUAL, False
    for at, (line, body, some) in enumerate(zip(raw, said, read, strict=True)):
        nested, header = bool(_NESTED.match(line)), note_lines.is_date(line)
        priority = priority_of(line) or (priority if nested else USUAL)
        skipped = is_reading(line) or (skipped and nested)
        if not skipped:
            found = dict.fromkeys([*some, *(fact for fact in leading(body) if fact.key in named)])
            lines.append(Statement(body, priority, at / last, header, nested, tuple(found)))
    return lines


def bodies(text: str) -> Iterator[str]:
    """What the lines of an answer say, thread tags and marks left out."""
    return (note_lines.body(line) for line in text.split("\n") if line.strip() and not is_thread_tag(line))
