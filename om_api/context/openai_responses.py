"""A context as the input items of a request to OpenAI's Responses API."""

from collections.abc import Iterable, Sequence
from typing import Any

from om_api.context.openai import detail, is_openais
from om_api.context.parts import part_text
from om_api.context.turns import ToolAnswer, Turn
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
        return [_result(answer) for answer in turn.answered]
    if turn.calls:
        said = [_message("assistant", turn.text)] if turn.text else []
        return [*said, *(_call(*asked) for asked in turn.asked)]
    return [_message(turn.role, turn.words if turn.words is not None else [_part(part) for part in turn.said])]


def _message(role: str, content: str | list[Wire]) -> Wire:
    return {"type": "message", "role": role, "content": content}


def _call(name: str, function: str, arguments: str) -> Wire:
    return {"type": "function_call", "call_id": name, "name": function, "arguments": arguments}


def _result(answer: ToolAnswer) -> Wire:
    text = f"Error: {answer.text}" if answer.failed else answer.text
    sent = [part for part in map(_part, answer.media) if part["type"] != "input_text"]
    output = [*([{"type": "input_text", "text": text}] if text else []), *sent] if sent else text
    return {"type": "function_call_output", "call_id": answer.id, "output": output}


def _part(part: Wire) -> Wire:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    url = str(part.get("url") or "")
    if part["type"] == "image" and (url or is_openais(part)):
        source = {"image_url": url} if url else {"file_id": part["file_id"]}
        return {"type": "input_image", **source, "detail": "auto", **detail(part)}
    if is_openais(part):
        return {"type": "input_file", "file_id": part["file_id"]}
    if url.startswith("data:"):
        return {"type": "input_file", "filename": str(part.get("name") or "file"), "file_data": url}
    if url.startswith("https://"):
        return {"type": "input_file", "file_url": url}
    return {"type": "input_text", "text": part_text(part)}
