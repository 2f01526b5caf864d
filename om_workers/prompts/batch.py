"""One reply for several threads: the sections of those whose section is beyond doubt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_OPEN = re.compile(r"""[ \t]*<thread\s+id\s*=\s*(["'])([^"'<>\n]{1,200})\1\s*>""", re.IGNORECASE)
_CLOSE = re.compile(r"[ \t]*</thread\s*>", re.IGNORECASE)
_SAME_LINE = re.compile(r"</thread\s*>[ \t]*$", re.IGNORECASE)


def sections_of(text: str, threads: Collection[str]) -> dict[str, str]:
    """Return what stands in the section of each of `threads` that has one; {} if one tag is not where it belongs.

    Tags count where they begin a line. What a message said may come back in a reply and look like a tag of ours. So if a
    section opens inside another, or for the second time, or a closing tag closes nothing, nobody knows which of the
    notes are whose, and no section is trusted: every thread is asked for alone. One that never ends is left out.
    """
    reading = _Reading()
    for line in text.split("\n"):
        reading.take(line)
    return {} if reading.odd else {name: body for name, body in reading.found.items() if name in threads}


class _Reading:
    """Goes through a reply line by line; `odd` when a tag was not where it belongs."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.odd = False
        self._open = ""
        self._lines: list[str] = []

    def take(self, line: str) -> None:
        """Read the next line."""
        opening = _OPEN.match(line)
        if opening:
            self._enter(opening[2])
            line = line[opening.end() :]
        end = _SAME_LINE.search(line) if opening else _CLOSE.match(line)
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
