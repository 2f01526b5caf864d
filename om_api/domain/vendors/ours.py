"""Our parts, as what vendors write becomes them."""

import json
from typing import Any

Part = dict[str, Any]
THOUGHTS = ("reasoning", "thinking", "redacted_thinking")  # what a model thought to itself: kept, and nobody's words
_OF_A_REQUEST = {"cache_control"}  # a mark that moves from request to request, and says nothing of the message
_STANDARD = str.maketrans("-_", "+/")


def rest(fields: Part, *taken: str) -> Part:
    """What a part says besides what was taken of it; nothing is null in it."""
    left = {*_OF_A_REQUEST, *taken}
    return {name: value for name, value in fields.items() if value is not None and name not in left}


def text(said: Any, beside: Part | None = None) -> Part:
    """A text part, null an empty one; of what stands beside its text nothing is empty."""
    full = {name: value for name, value in (beside or {}).items() if value not in ([], {}, "")}
    return {"type": "text", "text": "" if said is None else said, **full}


def tool_call(name: Any, args: Any, call_id: Any, beside: Part | None = None) -> Part:
    """A call of a tool; without an id its result is known by its name and place."""
    known = {"tool_call_id": call_id} if call_id else {}
    return {"type": "tool-call", **known, "name": name or "", "args": args, **(beside or {})}


def tool_result(result: Any, call_id: Any, name: Any = None, *, failed: bool = False) -> Part:
    """What a tool gave; null is an empty text."""
    known = {"tool_call_id": call_id} if call_id else {}
    named = {"name": name} if name else {}
    return {"type": "tool-result", **known, **named, "result": "" if result is None else result, "is_error": failed}


def attachment(kind: str, **said: Any) -> Part:
    """An image or a file, with what is known of it."""
    return {"type": kind, **{name: value for name, value in said.items() if value is not None}}


def data_url(mime: Any, data: Any) -> str:
    """Data in base64, of either alphabet, as an address."""
    return f"data:{mime or ''};base64,{base64_text(data)}"


def base64_text(data: Any) -> str:
    """Base64 in its standard alphabet: SDKs write one value now in this one, now in that for URLs."""
    return str(data).translate(_STANDARD)


def kind_of(mime: Any) -> str:
    """Whether media of this type are an image or a file."""
    return "image" if str(mime or "").startswith("image/") else "file"


def arguments(written: Any) -> Any:
    """A call's arguments; a model may have written broken JSON, and what it wrote is what happened."""
    if not isinstance(written, str):
        return {} if written is None else written
    try:
        return json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError):
        return written
