"""The tagged sections of a model's reply: a tag counts only where it begins a line."""

from bisect import bisect_left
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from om_api.patterns.pattern import Pattern
from om_workers.prompts.lines import items

_OWN = Pattern(r"[ \t]*</?(?:observations|current-task|suggested-response)[ \t]*/?>", ignore_case=True)
_OPEN = Pattern(r"[ \t]*<observations[ \t]*>", ignore_case=True)
_CLOSE = Pattern(r"[ \t]*</observations[ \t]*>", ignore_case=True)
_EMPTY = Pattern(r"[ \t]*<observations[ \t]*(?:/>|>[ \t]*</observations[ \t]*>)[ \t]*", ignore_case=True)
_THREAD = Pattern(r"""[ \t]*<thread\s+id\s*=\s*(?:"([^"'<>\n]{1,200})"|'([^"'<>\n]{1,200})')\s*>""", ignore_case=True)
_THREAD_ENDS = Pattern(r"[ \t]*</thread\s*>", ignore_case=True)
_THREAD_ENDS_LINE = Pattern(r"</thread\s*>[ \t]*$", ignore_case=True)


class _Tags(NamedTuple):
    """The patterns of one section's tags."""

    opening: Pattern
    empty: Pattern
    closing: Pattern
    ends_line: Pattern


@cache
def _tags(name: str) -> _Tags:
    closing = rf"</{name}[ \t]*>"
    patterns = rf"[ \t]*<{name}[ \t]*>", rf"[ \t]*<{name}[ \t]*/>[ \t]*", closing, rf"{closing}[ \t]*$"
    return _Tags(*(Pattern(each, ignore_case=True) for each in patterns))


def take(text: str, name: str) -> tuple[str | None, str]:
    """Return what the first section `name` says (None if there is none), and the text without any such section.

    The closing tag begins a line, or ends the line of the opening tag, or else ends a line before the next section.
    """
    lines, said, rest, at = text.split("\n"), [], [], 0
    tags, ends = _tags(name), _Ends(lines, name)
    while at < len(lines):
        found = tags.opening.match(lines[at])
        end = ends.of(at) if found else None
        if tags.empty.fullmatch(lines[at]):
            said.append("")
        elif found and end is not None:
            said.append(_inside("\n".join(lines[at : end + 1])[found.end() :], name))
            at = end
        else:
            rest.append(lines[at])
        at += 1
    return said[0] if said else None, "\n".join(rest)


class _Ends:
    """Where sections may end, found once for all that open: a reply may open one on each line."""

    def __init__(self, lines: list[str], name: str) -> None:
        tags, self._last = _tags(name), len(lines)
        tagged = [at for at, line in enumerate(lines) if "<" in line]
        self._closing = {at for at in tagged if tags.closing.match(lines[at].lstrip(" \t"))}
        self._stops = [at for at in tagged if at in self._closing or _OWN.match(lines[at])]
        self._late = [at for at in tagged if tags.ends_line.search(lines[at])]

    def of(self, start: int) -> int | None:
        """The line on which the section that opens at `start` closes."""
        late, stop = self._next(self._late, start), self._next(self._stops, start + 1)
        if late == start:
            return start
        return stop if stop in self._closing else late if late < stop else None

    def _next(self, places: list[int], start: int) -> int:
        at = bisect_left(places, start)
        return places[at] if at < len(places) else self._last


def _inside(text: str, name: str) -> str:
    *_, closing = _tags(name).closing.finditer(text)
    return text[: closing.start()].strip()


def observations(text: str) -> list[str] | None:
    """Return what stands in each `observations` block; None if no block was opened and closed.

    Of a further block that was never closed only the list items count: nobody knows where it ends.
    """
    found: list[str] = []
    inside: list[str] | None = None
    for line in text.split("\n"):
        if inside is None:
            inside = _opened(line, found)
        elif _CLOSE.match(line):
            found.append("\n".join(inside))
            inside = None
        else:
            inside.append(line)
    return [*found, items("\n".join(inside or []))] if found else None


def _opened(line: str, found: list[str]) -> list[str] | None:
    if _EMPTY.fullmatch(line):
        found.append("")
        return None
    opening = _OPEN.match(line)
    return [line[opening.end() :]] if opening else None


def of_threads(text: str, threads: Collection[str]) -> dict[str, str]:
    """Return what stands in the section of each of `threads` that has one; {} if one tag is not where it belongs.

    Tags count where they begin a line. What a message said may come back in a reply and look like a tag of ours. So if a
    section opens inside another, or for the second time, or a closing tag closes nothing, nobody knows which of the
    notes are whose, and no section is trusted: every thread is asked for alone. One that never ends is left out.
    """
    reading = _ThreadReader()
    for line in text.split("\n"):
        reading.take(line)
    return {} if reading.odd else {name: body for name, body in reading.found.items() if name in threads}


class _ThreadReader:
    """Goes through a reply line by line; `odd` when a tag was not where it belongs."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.odd = False
        self._open = ""
        self._lines: list[str] = []

    def take(self, line: str) -> None:
        """Read the next line."""
        opening = _THREAD.match(line)
        if opening:
            self._enter(opening[1] or opening[2])
            line = line[opening.end() :]
        end = _THREAD_ENDS_LINE.search(line) if opening else _THREAD_ENDS.match(line)
        self._lines.append(line[: end.start()] if end else line)
        if end:
            self._leave()

    def _enter(self, name: str) -> None:
        self.odd = self.odd or bool(self._open) or name in self.found
        self._open, self._lines = name, []

    def _leave(self) -> None:
        self.odd = self.odd or not self._open
        self.found[self._open] = "\n".join(self._lines)
        self._open, self._lines = "", []
