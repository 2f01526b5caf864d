"""A whole message, item or content of a vendor, by our names for what it says."""

from typing import Any

from om_api.domain.vendors import openai
from om_api.domain.vendors.ours import Part, rest, text, tool_result
from om_api.domain.vendors.parts import KNOWN, whole

ROLES = {"developer": "system", "function": "tool", "model": "assistant"}  # what vendors call who speaks, and we
_OURS = {"id", "role", "content", "thread_id", "resource_id", "timestamp", "tokens", "metadata", "name", "traceparent"}
_TAKEN = {"type", "parts", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "status"}
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def to_wire(fields: dict[str, Any]) -> dict[str, Any]:
    """Turn a vendor's message into our fields; one that has them already stays as it is.

    Its parts are left to `to_parts`. What we have no field for is kept in `metadata`, behind what is there. An item without
    a role is of whom its type implies. Raises ValueError for calls that are none.
    """
    if fields.keys() <= _OURS and str(fields.get("role")) not in ROLES and fields.get("content") is not None:
        return fields
    own = {name: value for name, value in fields.items() if name in _OURS}
    kind = fields.get("type")
    if not fields.get("role") and isinstance(kind, str) and kind not in {"message", *KNOWN}:
        return {**own, **_item(kind, fields)}
    said = {**own, **_said(fields)}
    beside = {name: value for name, value in fields.items() if name not in _OURS | _TAKEN and value not in _EMPTY}
    metadata = fields.get("metadata")
    if beside and isinstance(metadata, dict | None):
        said["metadata"] = {**beside, **(metadata or {})}
    return said


def _item(kind: str, fields: Part) -> Part:
    role, part = openai.item(kind, rest(fields, *_OURS - {"content", "name"}))
    return {"role": role, "content": [whole(part) if part["type"] == "tool-result" else part], "name": None}


def _said(fields: Part) -> Part:
    """Role and content, with the calls that stand beside it in it."""
    role = fields.get("role") or ("user" if "parts" in fields else "")
    content = fields.get("content") if fields.get("content") is not None else fields.get("parts")
    answers = fields.get("tool_call_id") or (role == "function" and "parts" not in fields)
    who = ROLES.get(str(role), role)
    if who == "tool" and answers:
        result = tool_result(content, fields.get("tool_call_id"), fields.get("name"))
        return {"role": who, "content": [whole(result)], "name": None}
    content = _spoken(content, fields)
    if calls := openai.calls(fields.get("tool_calls"), fields.get("function_call")):
        content = [*_listed(content), *calls]
    if content is None and ("parts" in fields or (who == "assistant" and "content" in fields)):
        content = ""  # who said nothing
    return {"role": who, "content": content}


def _spoken(content: Any, fields: Part) -> Any:
    """The content with a refusal behind it, or else the words of what was spoken aloud."""
    audio = fields.get("audio")
    heard = audio.get("transcript") if isinstance(audio, dict) else None
    refusal = fields.get("refusal")
    said = content or heard or content
    if not refusal:
        return said
    return [*_listed(said), text(refusal)] if said else refusal


def _listed(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [text(content)] if content else []
