"""A context as the input items of a request to OpenAI's Responses API."""

from collections.abc import Iterable, Sequence
from typing import Any

from om_api.context.openai import detail
from om_api.context.turns import Turn
from om_api.context.view import Block

Wire = dict[str, Any]
_AROUND = ("continuation", "volatile")


def openai_items(blocks: Sequence[Block], turns: Iterable[Turn], system: str) -> list[Wire]:
    """As `openai_messages`, with calls and their results as items; no item has an id, so none is looked for at OpenAI's."""
    before, after = ([_message("user", block.text) for block in blocks if block.kind == kind] for kind in _AROUND)
    said = [item for turn in turns for item in _items(turn)]
    return [*([_message("system", system)] if system else []), *before, *said, *after]


def _items(turn: Turn) -> list[Wire]:
    if turn.results:
        return [_result(*answered) for answered in turn.answered]
    if turn.calls:
        said = [_message("assistant", turn.text)] if turn.text else []
        return [*said, *(_call(*asked) for asked in turn.asked)]
    return [_message(turn.role, turn.words if turn.words is not None else [_part(part) for part in turn.said])]


def _message(role: str, content: str | list[Wire]) -> Wire:
    return {"type": "message", "role": role, "content": content}


def _call(name: str, function: str, arguments: str) -> Wire:
    return {"type": "function_call", "call_id": name, "name": function, "arguments": arguments}


def _result(name: str, text: str, failed: bool) -> Wire:  # noqa: FBT001 - as answered
    return {"type": "function_call_output", "call_id": name, "output": f"Error: {text}" if failed else text}


def _part(part: Wire) -> Wire:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": str(part["url"]), "detail": "auto", **detail(part)}
