"""The lines that observations are written in: list items, each led by a mark of how much it matters."""

from typing import Literal

from om_api.patterns.pattern import Pattern

MARKS = {"🔴": 5, "✅": 4, "🟡": 3, "🟢": 1}
USUAL = 3  # the priority of what carries no mark
LONGEST = 10_000
_CUT = " ... [truncated]"
_BULLET = r"[ \t]*(?:[-*•]|\d{1,4}[.)])"
_MARK = "|".join(MARKS)
_ITEM = Pattern(rf"{_BULLET}(?:[ \t]+\S|(?:{_MARK}))")
_MARKED = Pattern(rf"(?:{_BULLET})?[ \t]*(?:\([^()\n]{{1,20}}\)[ \t]*)?({_MARK})")
_READING = Pattern(
    rf"{_BULLET}[ \t]*(?:(?:{_MARK})\ufe0f?[ \t]*)?(?:\([^()\n]{{1,40}}\)[ \t]*)?\**(?P<kind>Pattern|Insight):\**"
    r"[ \t]*(?P<said>\S.*)"
)


def shorten_lines(text: str) -> str:
    """Return the text with bare newlines, and a note of the cut for what a line has beyond 10,000 characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line if len(line) <= LONGEST else line[:LONGEST] + _CUT for line in lines)


def is_item(line: str) -> bool:
    """Whether a line looks like an item of a list: `-`, `*` or `1.`, indented or not."""
    return _ITEM.match(line) is not None


def items(text: str) -> str:
    """Return only the lines that look like items of a list, as they are indented."""
    return "\n".join(line for line in text.split("\n") if is_item(line))


def priority_of(line: str) -> int | None:
    """The priority a line's own mark stands for, from 5 to 1; None if it is not led by one."""
    marked = _MARKED.match(line)
    return MARKS[marked[1]] if marked else None


def highest_priority(text: str) -> int:
    """The highest priority among the lines of a text; 3 if none is marked."""
    return max((found for line in text.split("\n") if (found := priority_of(line))), default=USUAL)


def is_important(line: str) -> bool:
    """Whether a line must rather be kept than others: it is marked 🔴 or ✅."""
    return (priority_of(line) or 0) >= MARKS["✅"]


def is_reading(line: str) -> bool:
    """Whether a line is a pattern or an insight: read out of other lines, no fact of its own."""
    return _READING.match(line) is not None


def readings(text: str, kind: Literal["Pattern", "Insight"]) -> tuple[str, ...]:
    """What the `Pattern:` or `Insight:` items of a text say, in their order."""
    found = (match for line in text.split("\n") if (match := _READING.match(line)))
    return tuple(match["said"].strip() for match in found if match["kind"] == kind)
