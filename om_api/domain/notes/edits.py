"""Correcting notes by hand: which line somebody means, and what a text says once it was corrected."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from om_api.domain.errors import InvalidInputError
from om_api.domain.note_lines import body, is_date, told, without
from om_api.domain.notes.catalogue import INTRO, group_named, says_nothing
from om_api.domain.tags import escape
from om_api.domain.texts.normal_forms import unescape
from om_api.domain.thread_sections import runs

LONGEST = 2_000  # characters of a line that somebody writes
MARKS = {5: "🔴", 4: "✅", 3: "🟡", 2: "🟢", 1: "🟢"}


class NotedLine(NamedTuple):
    """A line that says something, of which thread ("": of all), and the date above it ("": none)."""

    text: str
    thread: str
    under: str


def one_line(text: str) -> str:
    """A line as somebody writes it, without blanks around it. Raises InvalidInputError for what is not one line of notes."""
    line = escape(text.strip())
    if len(line) > LONGEST:
        raise InvalidInputError(
            f"a line has at most {LONGEST:,} characters, this one {len(line):,}: say it in fewer words"
        )
    if len(line.splitlines()) > 1:
        raise InvalidInputError("one line at a time: leave the line breaks out, or add each line by itself")
    if not told(line).strip():
        raise InvalidInputError("the line says nothing: give at least a word, not a mark, a date or a tag alone")
    return line


def item(text: str, priority: int) -> str:
    """A text as an item of notes, with the mark of its priority; one that is an item already stays as it is."""
    line = one_line(text)
    return line if body(line) != line else f"* {MARKS[priority]} {line}"


def lines_of(text: str, thread: str, *, pooled: bool) -> Iterator[NotedLine]:
    """The lines of a text that say something; of a pool's generation with the threads in whose sections they stand.

    Lines of a catalogue are none: what they name would be named no longer.
    """
    lines = text.split("\n")
    catalogued = INTRO in lines
    for name, some in runs(lines) if pooled else [(thread, lines)]:
        under = ""
        for line in some:
            if is_date(line):
                under = line.strip()
            elif told(line).strip() and not (catalogued and (group_named(line) or says_nothing(line))):
                yield NotedLine(line, name, under)


def means(line: str, given: str) -> bool:
    """Whether somebody who writes `given` means a line: all of it, or what it says after its bullet, mark and time."""
    wanted = _plain(given)
    return bool(wanted) and wanted in {_plain(line), _plain(body(line))}


def _plain(text: str) -> str:
    return " ".join(unescape(text).split())


def corrected(line: str, now: str) -> str:
    """A line that says something else, under the bullet, mark and time that it has, unless `now` begins with its own."""
    new = one_line(now)
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{new}" if body(new) != new else f"{line[: len(line) - len(body(line))]}{new}"


def replaced(text: str, line: str, now: str, thread: str, *, pooled: bool) -> str:
    """A text with another line in the place of one, wherever that stands as a thread's; "" takes it out, and its details."""
    lines = text.split("\n")
    places = set(_places(lines, line, thread, pooled=pooled))
    if not now:
        return without(lines, places).text
    return "\n".join(now if at in places else each for at, each in enumerate(lines))


def _places(lines: Sequence[str], line: str, thread: str, *, pooled: bool) -> Iterator[int]:
    if not pooled:
        yield from (at for at, each in enumerate(lines) if each == line)
        return
    at = 0
    for name, some in runs(lines):
        at += 1 if name else 0
        yield from (at + place for place, each in enumerate(some) if name == thread and each == line)
        at += len(some) + (1 if name else 0)
