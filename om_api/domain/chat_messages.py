"""Messages as chat completions APIs write them: tool calls beside the content, results as turns of the role `tool`."""

import json
from typing import Any

from om_api.domain.errors import InvalidInputError

_ROLES = {"developer": "system"}
_TAKEN = {"tool_calls", "tool_call_id", "name"}


def to_wire(fields: dict[str, Any]) -> dict[str, Any]:
    """Turn a chat completions message into our wire format; one that has it already stays as it is.

    Raises InvalidInputError for calls that are none.
    """
    role, content = fields.get("role"), fields.get("content")
    if content is None:
        content = fields.get("refusal")
    if isinstance(content, list):
        content = [_part(part) for part in content]
    if role == "tool" and fields.get("tool_call_id"):
        content = [_tool_result(fields, content)]
    elif calls := fields.get("tool_calls"):
        content = _parts(content) + _tool_calls(calls)
    rest = {name: value for name, value in fields.items() if name not in _TAKEN}
    return rest | {"role": _ROLES.get(str(role), role), "content": content}


def _parts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "image_url":
        image = part.get("image_url")
        return {"type": "image", "url": image.get("url") if isinstance(image, dict) else image}
    return {"type": "text", "text": part.get("refusal")} if kind == "refusal" else part


def _tool_calls(calls: Any) -> list[dict[str, Any]]:
    if not isinstance(calls, list):
        raise InvalidInputError(f"tool_calls is a list, not {str(calls)[:40]!r}")
    return [_tool_call(call) for call in calls]


def _tool_call(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise InvalidInputError(f"a tool call needs a function, and {str(call)[:40]!r} has none")
    args = _arguments(function.get("arguments"))
    return {"type": "tool-call", "tool_call_id": call.get("id", ""), "name": function.get("name", ""), "args": args}


def _arguments(text: Any) -> Any:
    """Parse a call's arguments; a model may have written broken JSON, and what it wrote is what happened."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _tool_result(fields: dict[str, Any], content: Any) -> dict[str, Any]:
    if isinstance(content, list) and all(isinstance(part, dict) and "text" in part for part in content):
        content = "\n".join(str(part["text"]) for part in content)
    result = {"type": "tool-result", "tool_call_id": fields["tool_call_id"], "result": content, "is_error": False}
    return result | ({"name": fields["name"]} if fields.get("name") else {})
