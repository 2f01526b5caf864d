"""A context as the messages of an OpenAI-like chat request."""

from collections.abc import Iterable, Sequence
from typing import Any

from om_api.context.turns import Turn, is_only_text, text_of
from om_api.context.view import Block

Wire = dict[str, Any]
_DETAILS = ("auto", "low", "high")


def openai_messages(blocks: Sequence[Block], turns: Iterable[Turn], system: str, *, plain: bool = False) -> list[Wire]:
    """One system message that only grows at its end, the reminder, the turns, and the volatile block last.

    `blocks` are those around the messages, `system` joins what those of the system say. `plain`: without the field `name`.
    """
    return [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": "user", "content": block.text} for block in blocks if block.kind == "continuation"),
        *_said(turns, plain=plain),
        *({"role": "user", "content": block.text} for block in blocks if block.kind == "volatile"),
    ]


def _said(turns: Iterable[Turn], *, plain: bool) -> list[Wire]:
    said: list[Wire] = []
    for turn in turns:
        name = "" if plain else turn.name
        if name or (words := turn.words) is None:
            said += _messages(turn, name)
        else:
            said.append({"role": turn.role, "content": words})
    return said


def _messages(turn: Turn, name: str) -> list[Wire]:
    if turn.results:
        return [_result(*answered) for answered in turn.answered]
    named = {"name": name} if name else {}
    if turn.calls:
        calls = [_call(*asked) for asked in turn.asked]
        return [{"role": "assistant", **named, "content": turn.text or None, "tool_calls": calls}]
    parts = turn.unsigned if name else turn.said
    content = text_of(parts) if is_only_text(parts) else [_part(part) for part in parts]
    return [{"role": turn.role, **named, "content": content}]


def _call(name: str, function: str, arguments: str) -> Wire:
    return {"id": name, "type": "function", "function": {"name": function, "arguments": arguments}}


def _result(name: str, text: str, failed: bool) -> Wire:  # noqa: FBT001 - as answered
    return {"role": "tool", "tool_call_id": name, "content": f"Error: {text}" if failed else text}


def _part(part: Wire) -> Wire:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    return {"type": "image_url", "image_url": {"url": str(part["url"]), **detail(part)}}


def detail(part: Wire) -> Wire:
    """In how much detail an image is to be looked at, where its writer said so."""
    return {"detail": part["detail"]} if part.get("detail") in _DETAILS else {}
