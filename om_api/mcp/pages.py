"""Long texts in pages: each holds as much as its tokens permit, and its last line says how to go on."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from om_api.domain.errors import InvalidInputError
from om_api.domain.message_tokens import Count
from om_api.patterns.pattern import Pattern

_CURSOR = Pattern(r"([0-9]{1,12})\.([0-9a-f]{8})")
_MORE = "There is more: call this again with cursor {!r}."
_ROOM = 40  # tokens of that line
_CHARACTERS = 16  # of a token at most: what is longer cannot fit, and is never counted


def page_of(text: str, cursor: str, most: int, count: Count) -> str:
    """The page of a text that begins at a cursor ("": at its beginning), in at most so many tokens, cursor and all.

    A cursor holds a hash of all before it: of a text that has changed there, no page could follow. Raises InvalidInputError.
    """
    start = _start(text, cursor)
    lead = "\t…" if start and text[start - 1] != "\n" else ""  # no part of a line may pass for the head of a turn
    end = start + len(fitting(text[start:], most - _ROOM, count))
    shown = f"{lead}{text[start:end]}"
    if end == len(text):
        return shown
    return f"{shown.rstrip()}\n\n{_MORE.format(f'{end}.{_hash(text[:end])}')}"


def _start(text: str, cursor: str) -> int:
    if not cursor:
        return 0
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise InvalidInputError(f"cursor {cursor[:40]!r} is none of ours: leave it out to begin at the first page")
    start = int(found[1])
    if start > len(text) or _hash(text[:start]) != found[2]:
        raise InvalidInputError(
            "what stood before this cursor has changed since: leave it out to begin at the first page"
        )
    return start


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def fitting(text: str, most: int, count: Count) -> str:
    """The beginning of a text that fits into so many tokens: whole lines, or a part of the first, and never nothing."""
    end, left = 0, most
    for line in _lines(text):
        left -= count(line) if len(line) <= left * _CHARACTERS else left + 1
        if left < 0:
            break
        end += len(line)
    return text[:end] or _cut(text[: max(1, most * _CHARACTERS)], most, count)


def _lines(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        yield text[at:end]
        at = end


def _cut(line: str, most: int, count: Count) -> str:
    while len(line) > 1 and (cost := count(line)) > most:
        line = line[: max(1, min(len(line) * most // cost, len(line) - 1))]
    return line


def list_of(entries: Iterable[tuple[str, str]], most: int, count: Count, *, goes_on: bool = False) -> str:
    """Entries by their names, as many as fit into so many tokens and at least the beginning of one, each whole but for that.

    The cursor of the next page is the name of the last entry; entries that come or go meanwhile shift nothing. The list
    `goes_on` where there are more entries than are given.
    """
    shown: list[str] = []
    left, last = most - _ROOM, ""
    for name, text in entries:
        left -= count(text) + 1 if len(text) <= left * _CHARACTERS else left + 1
        if left < 0 and shown:
            return "\n".join([*shown, _MORE.format(last)])
        if left < 0:
            part = fitting(text, most - 2 * _ROOM, count)
            text = f"{part.rstrip()} … (cut here: a larger max_tokens shows more)"  # noqa: PLW2901
        shown.append(text)
        last = name
    return "\n".join([*shown, _MORE.format(last)] if goes_on else shown)
