"""A context as the messages of an OpenAI-like chat request."""

from collections.abc import Iterable, Sequence
from typing import Any

from om_api.context.turns import Turn
from om_api.context.view import Block

Wire = dict[str, Any]
_DETAILS = ("auto", "low", "high")


def openai_messages(blocks: Sequence[Block], turns: Iterable[Turn], system: str) -> list[Wire]:
    """One system message that only grows at its end, the reminder, the turns, and the volatile block last.

    `blocks` are those around the messages, `system` joins what those of the system say.
    """
    return [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": "user", "content": block.text} for block in blocks if block.kind == "continuation"),
        *_said(turns),
        *({"role": "user", "content": block.text} for block in blocks if block.kind == "volatile"),
    ]


def _said(turns: Iterable[Turn]) -> list[Wire]:
    said: list[Wire] = []
    for turn in turns:
        if (words := turn.words) is None:
            said += _messages(turn)
        else:
            said.append({"role": turn.role, "content": words})
    return said


def _messages(turn: Turn) -> list[Wire]:
    if turn.results:
        return [_result(*answered) for answered in turn.answered]
    if turn.calls:
        calls = [_call(*asked) for asked in turn.asked]
        return [{"role": "assistant", "content": turn.text or None, "tool_calls": calls}]
    return [{"role": turn.role, "content": [_part(part) for part in turn.parts]}]


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
