"""The lines of notes: what each says by itself, and which stand under which, so that some can be taken out whole."""

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

_HEADER = re.compile(r"[ \t]*(?:#+[ \t]*|\*\*)?Date:", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>")
_SOURCE = re.compile(r"From ([A-Za-z0-9._:@+-]{1,200}): (?=\S)")
_LEAD = re.compile(
    r"[ \t]*(?:[-*•]|\d{1,4}[.)](?=\s))?[ \t]*(?:🔴|✅|🟡|🟢)?\ufe0f?[ \t]*(?:\([\d:., apmAPM–—-]{1,20}\))?[ \t]*(?:🔴|✅|🟡|🟢)?"
    r"\ufe0f?[ \t]*(?:->|→)?[ \t]*"
)


class Stripped(NamedTuple):
    """What is left of a text, and the lines that were taken out of it, in their order."""

    lines: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is left as one text."""
        return "\n".join(self.lines)


def is_date(line: str) -> bool:
    """Whether a line is a date above others."""
    return _HEADER.match(line) is not None


def body(line: str) -> str:
    """What a line says after its bullet, its mark and its time."""
    return _LEAD.sub("", line, count=1)


def told(line: str) -> str:
    """The same; "" for a line that says nothing by itself: it is blank, a date above others, or a tag."""
    return "" if _is_bare(line) else body(line)


def sourced(resource: str, text: str) -> str:
    """The text of a line that another memory shares: it names that memory."""
    return f"From {resource}: {text}"


def split_source(line: str) -> tuple[str, str]:
    """The memory that a line names as its source ("": none), and what it says without that; see `sourced`."""
    said = told(line)
    found = _SOURCE.match(said)
    return (found[1], said[found.end() :]) if found else ("", said)


def without(lines: Sequence[str], goes: Container[int]) -> Stripped:
    """Lines without those whose places are named, the details under each of them, and the dates above that have no line left."""
    kept, gone, under = list[str](), list[str](), -1
    for at, line in enumerate(lines):
        depth = _depth(line)
        if _is_bare(line):
            under = -1
        elif (0 <= under < depth) or at in goes:
            under = min(depth, under) if under >= 0 else depth
            gone.append(line)
            continue
        else:
            under = -1
        kept.append(line)
    return Stripped(tuple(_without_empty(kept) if gone else kept), tuple(gone))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_bare(line: str) -> bool:
    return not line.strip() or is_date(line) or _TAG.fullmatch(line) is not None


def _without_empty(lines: Sequence[str]) -> list[str]:
    """Lines without the dates and the blank lines that now stand above nothing."""
    kept, says = list[str](), False
    for line in reversed(lines):
        if not is_date(line) or says:
            kept.append(line)
        says = (says or not _is_bare(line)) and not is_date(line) and _TAG.fullmatch(line) is None
    text = [line for at, line in enumerate(reversed(kept)) if line.strip() or at]
    return text if any(not _is_bare(line) for line in text) else []
