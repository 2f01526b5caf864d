"""Parts as Gemini writes them: without a type, by the name of their only field, in camelCase or as its Python SDK dumps them."""

import re
from collections.abc import Callable
from typing import Any

from om_api.domain.vendors.ours import (
    Part,
    attachment,
    base64_text,
    data_url,
    kind_of,
    rest,
    text,
    tool_call,
    tool_result,
)

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BESIDE = {"thought", "thought_signature", "part_metadata", "media_resolution"}


def part(written: Part) -> Part:
    """One part in our form; one we do not know is called what its field is called."""
    said = _snake(rest(written))
    if "thought_signature" in said:
        said["thought_signature"] = base64_text(said["thought_signature"])
    name = next((name for name in _FIELDS if name in said), None)
    if name is None:
        kind = next((key for key in said if key not in _BESIDE and key != "type"), "unknown")
        return {**said, "type": str(kind)}
    beside = rest(said, name, "thought", "type", *(() if said.get("thought_signature") else ("thought_signature",)))
    made = _FIELDS[name](said[name], beside)
    return {**made, "type": "reasoning"} if name == "text" and said.get("thought") else made


def _snake(fields: Any) -> Part:
    return {_HUMP.sub("_", str(name)).lower(): value for name, value in fields.items()}


def _object(value: Any) -> Part:
    return _snake(rest(value)) if isinstance(value, dict) else {}


def _call(said: Any, beside: Part) -> Part:
    call = _object(said)
    return tool_call(call.get("name"), call.get("args") or {}, call.get("id"), beside)


def _response(said: Any, beside: Part) -> Part:
    answer = _object(said)
    given = answer.get("response")
    failed = isinstance(given, dict) and given.keys() == {"error"} and bool(given["error"])
    result = given["error"] if failed else given  # type: ignore[index]
    made = tool_result(result, answer.get("id"), answer.get("name"), failed=failed)
    return {**made, **({"parts": answer["parts"]} if answer.get("parts") else {}), **beside}


def _inline(said: Any, beside: Part) -> Part:
    blob = _object(said)
    mime = blob.get("mime_type")
    url = data_url(mime, blob.get("data"))
    return attachment(kind_of(mime), url=url, mime=mime, name=blob.get("display_name"), **beside)


def _file(said: Any, beside: Part) -> Part:
    file = _object(said)
    mime = file.get("mime_type")
    return attachment(kind_of(mime), url=file.get("file_uri"), mime=mime, name=file.get("display_name"), **beside)


_FIELDS: dict[str, Callable[[Any, Part], Part]] = {
    "function_call": _call,
    "function_response": _response,
    "inline_data": _inline,
    "file_data": _file,
    "text": text,
}
