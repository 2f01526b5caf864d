"""The lines that observations are written in: list items, each led by a mark of how much it matters."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

MARKS = {"🔴": 5, "✅": 4, "🟡": 3, "🟢": 1}
USUAL = 3  # the priority of what carries no mark
LONGEST = 10_000
_CUT = " ... [truncated]"
_BULLET = r"[ \t]*(?:[-*•]|\d{1,4}[.)])"
_MARK = "|".join(MARKS)
_ITEM = re.compile(rf"{_BULLET}(?:[ \t]+\S|(?:{_MARK}))")
_MARKED = re.compile(rf"(?:{_BULLET})?[ \t]*(?:\([^()\n]{{1,20}}\)[ \t]*)?({_MARK})")
_READING = re.compile(
    rf"{_BULLET}[ \t]*(?:(?:{_MARK})\ufe0f?[ \t]*)?(?:\([^()\n]{{1,40}}\)[ \t]*)?\**(?P<kind>Pattern|Insight):\**"
    r"[ \t]*(?P<said>\S.*)"
)
_CLOCK = r"(?:\((\d{1,2}):([0-5]\d)[ \t]*([AP])?\.?(?:M\.?)?\)[ \t]*)?"
_WHOLE = re.compile(rf"(?:{_BULLET})?+[ \t]*+{_CLOCK}(?:({_MARK})\ufe0f?[ \t]*)?+{_CLOCK}(\S.*)", re.IGNORECASE)
_REFERENCED = re.compile(r"[ \t]*\((?:meaning|estimated)[ \t]+([^()\n]{1,80})\)\.?[ \t]*\Z", re.IGNORECASE)
_HALF_DAY = 12
_LAST_HOUR = 23


class NotedLine(NamedTuple):
    """One observation, taken apart: `time` as HH:MM on the 24-hour clock, `referenced` the date it speaks of as written.

    Both are "" where the line has none; `text` is what is left between them. `priority` is 1-5, 3 without a mark.
    """

    priority: int
    time: str
    text: str
    referenced: str


def read_line(line: str) -> NotedLine | None:
    """Take a list item or a marked line apart; None for a date, a heading, a tag or an empty line."""
    found = _WHOLE.match(line) if is_item(line) or priority_of(line) else None
    if found is None:
        return None
    early, late = found.group(1, 2, 3), found.group(5, 6, 7)
    text, referenced = found[8].rstrip(), _REFERENCED.search(found[8])
    return NotedLine(
        MARKS.get(found[4], USUAL),
        _time(*(early if early[0] else late)),
        text[: referenced.start()] if referenced else text,
        referenced[1].strip() if referenced else "",
    )


def _time(hour: str | None, minute: str | None, half: str | None) -> str:
    if hour is None:
        return ""
    at = int(hour) % _HALF_DAY + _HALF_DAY * (half in {"P", "p"}) if half else int(hour)
    return f"{at:02}:{minute}" if at <= _LAST_HOUR else ""


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
