"""A context as the messages of an OpenAI-like chat request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from om_api.context.parts import arguments, result_text
from om_api.context.turns import wire_id, wire_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from om_api.context.block import Block
    from om_api.context.turns import Turn

Wire = dict[str, Any]


def openai_messages(system: str, framing: Sequence[Block], turns: Iterable[Turn]) -> list[Wire]:
    """One system message that only grows at its end, the reminder, the turns, and the volatile block last."""
    return [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": "user", "content": block.text} for block in framing if block.kind == "continuation"),
        *(message for turn in turns for message in _messages(turn)),
        *({"role": "user", "content": block.text} for block in framing if block.kind == "volatile"),
    ]


def _messages(turn: Turn) -> Iterator[Wire]:
    if turn.results:
        yield from (_result(part) for part in turn.results)
    elif turn.calls:
        yield {"role": "assistant", "content": turn.text or None, "tool_calls": [_call(part) for part in turn.calls]}
    else:
        yield {"role": turn.role, "content": _content(turn)}


def _call(part: Wire) -> Wire:
    written = msgspec.json.encode(arguments(part)).decode()
    return {"id": wire_id(part), "type": "function", "function": {"name": wire_name(part), "arguments": written}}


def _result(part: Wire) -> Wire:
    text = result_text(part)
    return {
        "role": "tool",
        "tool_call_id": wire_id(part),
        "content": f"Error: {text}" if part.get("is_error") else text,
    }


def _content(turn: Turn) -> str | list[Wire]:
    if all(part["type"] == "text" for part in turn.parts):
        return turn.text
    return [_part(part) for part in turn.parts]


def _part(part: Wire) -> Wire:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    return {"type": "image_url", "image_url": {"url": str(part["url"])}}
