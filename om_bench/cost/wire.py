"""Requests as the pieces that a provider counts and caches: what an agent sends, cut where it is cut on the wire."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.message_tokens import TURN, Count


class Piece(NamedTuple):
    """A part of a request that is sent as it is or not at all; `mark`: a cache breakpoint stands behind it."""

    text: str
    tokens: int
    mark: bool = False


class Sent(NamedTuple):
    """One call: when (seconds), what is sent, and how many tokens are answered."""

    at: float
    pieces: Sequence[Piece]
    output: int


def size(pieces: Iterable[Piece]) -> int:
    """Tokens of pieces."""
    return sum(piece.tokens for piece in pieces)


def marked(pieces: Sequence[Piece]) -> list[Piece]:
    """The same with a breakpoint behind the last one."""
    return [*pieces[:-1], pieces[-1]._replace(mark=True)] if pieces else []


def paragraphs(text: str, count: Count) -> Iterator[Piece]:
    """A text cut at its empty lines: so much of it is the same as before, and the rest is not."""
    return (_piece(f"{part}\n\n", 0, count) for part in text.split("\n\n"))


def of_openai(messages: Iterable[dict[str, Any]], count: Count) -> Iterator[Piece]:
    """A chat request. A system message is cut into paragraphs, because it grows at its end."""
    for message in messages:
        if message["role"] == "system":
            yield from paragraphs(message["content"], count)
            continue
        if message.get("content"):
            yield _piece(_text(message["content"]), TURN, count)
        for call in message.get("tool_calls", ()):
            yield _piece(f"{call['function']['name']} {call['function']['arguments']}", TURN, count)


def of_anthropic(request: dict[str, Any], count: Count) -> Iterator[Piece]:
    """A request with its breakpoints; each part of a message is a piece, and so is each block of the system prompt."""
    for block in request["system"]:
        yield _piece(f"{block['text']}\n\n", 0, count, mark="cache_control" in block)
    for message in request["messages"]:
        for part in message["content"]:
            yield _piece(_said(part), TURN, count, mark="cache_control" in part)


def _piece(text: str, frame: int, count: Count, *, mark: bool = False) -> Piece:
    return Piece(sys.intern(text), frame + count(text), mark)  # sent again and again, kept once


def _said(part: dict[str, Any]) -> str:
    if part["type"] == "tool_use":
        return f"{part['name']} {_json(part['input'])}"
    said = part.get("text") or part.get("content")
    return said if isinstance(said, str) else _json({**part, "cache_control": None})


def _text(content: Any) -> str:
    return content if isinstance(content, str) else _json(content)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
