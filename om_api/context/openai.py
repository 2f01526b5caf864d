"""A context as the messages of an OpenAI-like chat request."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from om_api.context.alternation import inline_data
from om_api.context.parts import part_text
from om_api.context.turns import Turn, is_only_text, text_of
from om_api.context.view import Block

Wire = dict[str, Any]
_DETAILS = ("auto", "low", "high")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
FILE_ID = re.compile(r"file-[A-Za-z0-9_-]{1,120}")  # how OpenAI names files


def openai_messages(blocks: Sequence[Block], turns: Iterable[Turn], system: str, *, plain: bool = False) -> list[Wire]:
    """One system message that only grows at its end, the reminder, the turns, and the volatile block last.

    `blocks` are those around the messages, `system` is the text of the system's ones. `plain`: without the field `name`.
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
            said += _messages(turn, name, plain=plain)
        else:
            said.append({"role": turn.role, "content": words})
    return said


def _messages(turn: Turn, name: str, *, plain: bool) -> list[Wire]:
    if turn.results:
        return _results(turn, plain=plain)
    named = {"name": name} if name else {}
    if turn.calls:
        calls = [_call(*asked) for asked in turn.asked]
        return [{"role": "assistant", **named, "content": turn.text or None, "tool_calls": calls}]
    parts = turn.unsigned if name else turn.said
    content = text_of(parts) if is_only_text(parts) else [_part(part, plain=plain) for part in parts]
    return [{"role": turn.role, **named, "content": content}]


def _call(name: str, function: str, arguments: str) -> Wire:
    return {"id": name, "type": "function", "function": {"name": function, "arguments": arguments}}


def _results(turn: Turn, *, plain: bool) -> list[Wire]:
    """The results and, because a tool's message takes texts only, a message after them with their images and files."""
    said: list[Wire] = []
    shown: list[Wire] = []
    for answer in turn.answered:
        text = f"Error: {answer.text}" if answer.failed else answer.text
        said.append({"role": "tool", "tool_call_id": answer.id, "content": text})
        sent = [part for part in (_part(each, plain=plain) for each in answer.media) if part["type"] != "text"]
        shown += [{"type": "text", "text": f"[given by the tool call {answer.id}]"}, *sent] if sent else []
    return [*said, *([{"role": "user", "content": shown}] if shown else [])]


def _part(part: Wire, *, plain: bool) -> Wire:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    url = str(part.get("url") or "")
    if part["type"] == "image" and url:
        return {"type": "image_url", "image_url": {"url": url, **detail(part)}}
    return (None if plain else _file(part, url)) or {"type": "text", "text": part_text(part)}


def _file(part: Wire, url: str) -> Wire | None:
    if is_openais(part):
        return {"type": "file", "file": {"file_id": part["file_id"]}}
    mime, data = inline_data(url) or ("", "")
    if mime in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": data, "format": _SOUNDS[mime]}}
    if mime == "application/pdf":
        return {"type": "file", "file": {"filename": str(part.get("name") or "file.pdf"), "file_data": url}}
    return None


def is_openais(part: Wire) -> bool:
    """Whether a part has a file's id of OpenAI."""
    return FILE_ID.fullmatch(str(part.get("file_id") or "")) is not None


def detail(part: Wire) -> Wire:
    """In how much detail an image is to be looked at, where its writer said so."""
    return {"detail": part["detail"]} if part.get("detail") in _DETAILS else {}
