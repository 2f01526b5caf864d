"""The sections of threads in a pool's text: whole lines `<thread id="…">` and `</thread>`, which do not nest."""

import re
from collections.abc import Container, Iterator, Sequence

from om_api.domain.values import ID_PATTERN

_OPENING = re.compile(rf'<thread id="({ID_PATTERN.pattern})">')
_CLOSING = "</thread>"
_HEADING = re.compile(r'<(?=/thread>|thread id=")')


def section(thread: str, lines: Sequence[str]) -> list[str]:
    """Lines as a thread's section."""
    return [f'<thread id="{thread}">', *lines, _CLOSING]


def harmless(text: str) -> str:
    """The text without anything that could open or close a section."""
    return _HEADING.sub("&lt;", text)


def runs(lines: Sequence[str], threads: Container[str] | None = None) -> Iterator[tuple[str, Sequence[str]]]:
    """Runs of lines, each with the thread whose section it is, headings left out, or "" for what stands between them.

    With `threads` a section of anybody else is nothing but lines. A line that only looks like a heading is made harmless:
    beside other runs it would be one.
    """
    between, at, last = list[str](), 0, _last_closing(lines)
    while at < len(lines):
        name, end = _section(lines, at, last)
        if name and (threads is None or name in threads):
            if between:
                yield "", between
            yield name, lines[at + 1 : end - 1]
            between = []
        else:
            between += lines[at:end] if name else [_plain(lines[at])]
        at = end
    if between:
        yield "", between


def renamed(text: str, was: str, becomes: str) -> str:
    """The text with the sections of one thread as those of another."""
    lines, at = text.split("\n"), 0
    last = _last_closing(lines)
    while at < len(lines):
        name, end = _section(lines, at, last)
        if name == was:
            lines[at] = section(becomes, ())[0]
        at = end
    return "\n".join(lines)


def _last_closing(lines: Sequence[str]) -> int:
    return max((at for at, line in enumerate(lines) if line == _CLOSING), default=-1)


def _section(lines: Sequence[str], at: int, last: int) -> tuple[str, int]:
    """The thread of the section that begins at a line ("": none), and the line after it.

    A heading inside an open section begins none. `last` is the last closing line.
    """
    opening = _OPENING.fullmatch(lines[at])
    if opening is None or at > last:
        return "", at + 1
    return opening[1], lines.index(_CLOSING, at) + 1


def _plain(line: str) -> str:
    return harmless(line) if line == _CLOSING or _OPENING.fullmatch(line) else line
