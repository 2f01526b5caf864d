"""Parts, calls and items as OpenAI writes them: chat completions, and the Responses API."""

from collections.abc import Callable
from typing import Any

from om_api.domain.vendors.ours import Part, arguments, attachment, data_url, rest, text, tool_call, tool_result


def calls(written: Any, legacy: Any = None) -> list[Part]:
    """The calls beside a content: `tool_calls`, and `function_call` as it was before; raises ValueError."""
    if written and not isinstance(written, list):
        raise ValueError(f"tool_calls is a list, not {str(written)[:40]!r}")
    older = [{"type": "function", "function": legacy}] if isinstance(legacy, dict) else []
    return [_call(call) for call in [*(written or ()), *older]]


def _call(call: Any) -> Part:
    kind = call.get("type", "function") if isinstance(call, dict) else None
    said = call.get(kind) if isinstance(kind, str) else None
    if kind in ("function", None) and not isinstance(said, dict):
        raise ValueError(f"a tool call needs a function, and {str(call)[:40]!r} has none")
    if kind not in ("function", "custom") or not isinstance(said, dict):
        return {**rest(call), "type": str(kind)}
    given = said.get("input") if kind == "custom" else arguments(said.get("arguments"))
    return tool_call(said.get("name"), given, call.get("id"))


def item(kind: str, fields: Part) -> tuple[str, Part]:
    """Who an item of the Responses API is of, and the part it makes; one we do not know is kept whole."""
    if kind in ("function_call", "custom_tool_call"):
        given = fields.get("input") if kind == "custom_tool_call" else arguments(fields.get("arguments"))
        return "assistant", tool_call(fields.get("name"), given, fields.get("call_id"))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return "tool", tool_result(fields.get("output"), fields.get("call_id"), fields.get("name"))
    role = "tool" if kind.endswith("_output") else "user" if kind.endswith("_response") else "assistant"
    return role, rest(fields)


def _text(part: Part) -> Part:
    return text(part.get("text"), rest(part, "type", "text"))


def _refusal(part: Part) -> Part:
    return text(part.get("refusal"), rest(part, "type", "refusal"))


def _image(part: Part) -> Part:
    image = part.get("image_url")
    said = {**rest(part, "type", "image_url"), **(rest(image) if isinstance(image, dict) else {"url": image})}
    return attachment("image", **said)


def _audio(part: Part) -> Part:
    audio = part.get("input_audio")
    if not isinstance(audio, dict):
        return rest(part)
    mime = f"audio/{audio.get('format') or 'wav'}"
    return attachment("file", url=data_url(mime, audio.get("data")), mime=mime)


def _file(part: Part) -> Part:
    """A file of either API; one of ours has neither field, and stays as it is."""
    said = part.get("file") if part["type"] == "file" else rest(part, "type")
    if not isinstance(said, dict):
        return rest(part)
    url = said.get("file_data") or said.get("file_url")
    beside = rest(said, "file_data", "file_url", "filename")
    return attachment("file", url=url, name=said.get("filename"), **beside)


PARTS: dict[str, Callable[[Part], Part]] = {
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "image_url": _image,
    "input_image": _image,
    "input_audio": _audio,
    "input_file": _file,
    "file": _file,
}
