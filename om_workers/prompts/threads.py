"""Thread sections in what a model wrote: the Observer's are taken out, the Reflector's are kept if well-formed."""

import re
from html import escape as attribute
from typing import NamedTuple

from om_api.domain.tags import GENERIC, escape

_TAG = re.compile(rf"<(?!{GENERIC})(/?)thread(?=[\s/>])([^<>]{{0,1024}})>", re.IGNORECASE)
_ALONE = re.compile(rf"^[ \t]*{_TAG.pattern}[ \t]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_ID = re.compile(r"""\s+id\s*=\s*(["'])([A-Za-z0-9._:@+-]{1,200})\1\s*""")


class _Section(NamedTuple):
    name: str
    opening: re.Match[str]
    closing: re.Match[str]


def without_threads(text: str) -> str:
    """Return the text without thread tags, and escaped; a line that held nothing else goes with its tag."""
    return escape(_TAG.sub("", _ALONE.sub("", text)))


def with_threads(text: str) -> str:
    """Return the text with its `<thread id="…">` sections, each tag on its own line, and all other tags escaped.

    A section opens where a line begins and closes where a line begins or ends; sections do not nest, and empty ones go.
    A stray opening or closing tag is taken out.
    """
    text = _without_strays(text)
    pieces, at = [], 0
    for section in _sections(text):
        pieces.append(escape(text[at : section.opening.start()].rstrip()))
        pieces.append(_written(section, text))
        at = section.closing.end()
    pieces.append(escape(text[at:].rstrip()))
    return "\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def thread_section(name: str, body: str) -> str:
    """A section of one thread, each tag on its own line; `body` is escaped already."""
    return f'<thread id="{attribute(name)}">\n{body}\n</thread>'


def is_thread_tag(line: str) -> bool:
    """Whether a line is one thread tag and nothing else."""
    return _ALONE.fullmatch(line) is not None


def _written(section: _Section, text: str) -> str:
    body = text[section.opening.end() : section.closing.start()].strip("\n").rstrip()
    return thread_section(section.name, escape(body)) if body.strip() else ""


def _sections(text: str) -> list[_Section]:
    found: list[_Section] = []
    opened: tuple[str, re.Match[str]] | None = None
    for tag in _TAG.finditer(text):
        if tag[1]:
            if opened and (_begins_line(tag) or _ends_line(tag)):
                found.append(_Section(*opened, tag))
                opened = None
        elif (name := _ID.fullmatch(tag[2])) and _begins_line(tag):
            opened = (name[2], tag)
    return found


def _begins_line(tag: re.Match[str]) -> bool:
    start = tag.string.rfind("\n", 0, tag.start()) + 1
    return not tag.string[start : tag.start()].strip()


def _ends_line(tag: re.Match[str]) -> bool:
    end = tag.string.find("\n", tag.end())
    return not tag.string[tag.end() : end if end >= 0 else None].strip()


def _without_strays(text: str) -> str:
    """Take out the tags that belong to no section; a tag that only this brings together is escaped later."""
    kept = {tag.start() for section in _sections(text) for tag in section[1:]}
    strays = [tag for tag in _TAG.finditer(text) if tag.start() not in kept]
    pieces, at = [], 0
    for tag in strays:
        pieces.append(text[at : tag.start()])
        at = tag.end()
        if _begins_line(tag) and _ends_line(tag):
            pieces[-1] = pieces[-1].rstrip(" \t")
            at += 1
    return "".join(pieces) + text[at:]
