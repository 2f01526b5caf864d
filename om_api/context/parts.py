"""The parts of a message as text and as plain JSON values: escaped, copied, shared with nobody, data only named."""

from collections.abc import Mapping
from typing import Any

import msgspec

from om_api.domain.folding import folded, in_brackets, placeholder
from om_api.domain.media import may_hold_data, named, split
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.vendors.parts import to_parts

Part = dict[str, Any]
_LONGEST_URL = 300


def plain(message: Message) -> str:
    """The whole message as escaped text: who speaks, its text, tool parts in brackets, attachments by name."""
    lead = f"{speaker}: " if (speaker := message.speaker) else ""
    if isinstance(message.content, str):
        return lead + escape(message.content)
    return lead + escape("\n".join(map(part_text, message.content)))  # again: a tag may be split between two parts


def part_text(part: Mapping[str, Any]) -> str:
    """One part as escaped text."""
    if part["type"] == "text":
        return escape(part["text"])
    return escape(_BRACKETS.get(part["type"], placeholder)(part))


def _call(part: Mapping[str, Any]) -> str:
    return f"[tool call {_name(part)} {_json(arguments(part))}]"


def _result(part: Mapping[str, Any]) -> str:
    word = "error" if part.get("is_error") else "result"
    return f"[tool {word} {_name(part)}] {folded(result_text(part))}"


def _name(part: Mapping[str, Any]) -> str:
    return in_brackets(part.get("name") or "") or "unnamed"


def _attachment(part: Mapping[str, Any]) -> str:
    url = "".join(str(part.get("url") or "").split())
    shown = url if len(url) <= _LONGEST_URL and not url.startswith("data:") else ""
    said = [part["type"], *(in_brackets(part.get(key) or "") for key in ("name", "mime", "file_id")), shown]
    return f"[{' '.join(filter(None, said))}]"


_BRACKETS = {"tool-call": _call, "tool-result": _result, "image": _attachment, "file": _attachment}


def arguments(part: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments as an object of their own, strings escaped; JSON text is read, anything else is `value`."""
    args = part.get("args")
    if isinstance(args, str):
        args = _read(args)
    if args is None:
        return {}
    copied = _copy(args)
    return copied if isinstance(copied, dict) else {"value": copied}


def result_text(part: Mapping[str, Any]) -> str:
    """A tool's result as escaped text: text as it is, anything else as JSON, images and files by name, "" for none."""
    result, media = split(part.get("result"))
    text = "" if result is None else escape(named(result)) if isinstance(result, str) else _json(_copy(result))
    return "\n".join(filter(None, [text, *map(part_text, media)]))


def result_media(part: Mapping[str, Any]) -> list[Part]:
    """The images and files of a tool's result."""
    beside = part.get("parts")  # where Gemini has them
    return [*split(part.get("result"))[1], *(split(to_parts(beside))[1] if isinstance(beside, list) else ())]


def result_object(part: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's result as an object of its own, strings escaped: {"result": …}, or {"error": …} when it failed."""
    result = _copy(split(part.get("result"))[0])
    if part.get("is_error"):
        return {"error": result}
    return result if isinstance(result, dict) else {"result": result}


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text) if text.strip() else None
    except msgspec.DecodeError:
        return text


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _copy(value: Any) -> Any:
    """A deep copy without our tags and without data; each walk is only made where it can find something."""
    try:
        encoded = msgspec.json.encode(value)
        copied = msgspec.json.decode(encoded)
        copied = named(copied) if may_hold_data(encoded) else copied
        return _escaped(copied) if b"<" in encoded else copied
    except RecursionError:  # a message that nests a thousand lists hurts only itself
        return "(nested too deeply to show)"


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, dict):
        return {escape(key): _escaped(item) for key, item in value.items()}
    return value
