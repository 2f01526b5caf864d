"""A context as the system instruction and contents of a Gemini request."""

import re
from collections.abc import Iterable, Sequence

from om_api.context.alternation import Speech, Wire, alternating, inline_data, reminder
from om_api.context.parts import arguments, part_text, result_media, result_object
from om_api.context.turns import Turn, wire_name
from om_api.context.view import Block

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_UNSIGNED = "skip_thought_signature_validator"  # for calls of other models; Gemini 3 refuses a call that has none


def gemini_request(blocks: Sequence[Block], turns: Iterable[Turn]) -> Wire:
    """`system_instruction`, left out when there is nothing to instruct (an empty one is refused), and `contents`."""
    raw = [Speech("model" if turn.role == "assistant" else "user", _parts(turn)) for turn in turns]
    contents = [{"role": speech.role, "parts": speech.parts} for speech in alternating(blocks, raw, _text)]
    system = [_text(block.text) for block in blocks if block.role == "system" and block.kind != "message"]
    return {**({"system_instruction": {"parts": system}} if system else {}), "contents": contents}


def _text(text: str) -> Wire:
    return {"text": text}


def _parts(turn: Turn) -> list[Wire]:
    if turn.role == "system":
        return [_text(reminder(turn.text))]
    given = [_said(part) for result in turn.results for part in result_media(result)]
    return [*map(_said, turn.said), *_calls(turn.calls), *map(_result, turn.results), *given]


def _said(part: Wire) -> Wire:
    if part["type"] == "text":
        return _text(part["text"])
    return _media(str(part.get("url") or ""), str(part.get("mime") or "")) or _text(part_text(part))


def _media(url: str, mime: str) -> Wire | None:
    if inline := inline_data(url):
        return {"inlineData": {"mimeType": inline[0], "data": inline[1]}}
    named = mime and url.startswith(("https://", "gs://"))
    return {"fileData": {"mimeType": mime, "fileUri": url}} if named else None


def _calls(calls: Sequence[Wire]) -> list[Wire]:
    """The calls of a turn, the first of them signed: with Gemini's own words for it if no other has a signature of Gemini's."""
    signed = [_signature(part) for part in calls]
    marks = signed if any(signed) else [_UNSIGNED, *signed[1:]]
    return [
        {**_call(part), **({"thoughtSignature": mark} if mark else {})}
        for part, mark in zip(calls, marks, strict=False)
    ]


def _signature(part: Wire) -> str:
    given = part.get("thought_signature")
    return given if isinstance(given, str) and _BASE64.fullmatch(given) else ""


def _call(part: Wire) -> Wire:
    return {"functionCall": {"name": wire_name(part), "args": arguments(part)}}


def _result(part: Wire) -> Wire:
    return {"functionResponse": {"name": wire_name(part), "response": result_object(part)}}
