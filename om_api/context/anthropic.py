"""A context as the system blocks and messages of an Anthropic request, with its cache breakpoints."""

import re
from collections.abc import Iterable, Sequence

from om_api.context.alternation import Speech, Wire, alternating, inline_data, reminder
from om_api.context.parts import arguments, part_text, result_media, result_text
from om_api.context.turns import Turn, wire_id, wire_name
from om_api.context.view import Block
from om_api.domain.tags import escape

_THOUGHTS = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data", "data")}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"
_FILE_ID = re.compile(r"file_[A-Za-z0-9]{1,120}")  # how Anthropic names files


def anthropic_request(blocks: Sequence[Block], turns: Iterable[Turn]) -> Wire:
    """The keyword arguments `system` and `messages`, with at most four breakpoints.

    They stand after preamble and reflection, after the newest activation but one, after the newest activation, and
    after the last raw message: the volatile block comes behind them all and spoils nothing that was cached.
    """
    raw = [Speech(_role(turn), _parts(turn)) for turn in turns]
    if raw:
        _mark(raw[-1].parts[-1])
    return {
        "system": _system([block for block in blocks if block.role == "system" and block.kind != "message"]),
        "messages": [{"role": speech.role, "content": speech.parts} for speech in alternating(blocks, raw, _text)],
    }


def _system(blocks: Sequence[Block]) -> list[Wire]:
    written = [_text(block.text) for block in blocks]
    activations = sum(block.kind == "observations" for block in blocks)
    ends = {len(blocks) - 1, len(blocks) - 1 - min(1, activations), len(blocks) - 1 - activations}
    for end in ends if blocks else ():
        _mark(written[end])
    return written


def _mark(part: Wire) -> None:
    part["cache_control"] = {"type": "ephemeral"}


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _role(turn: Turn) -> str:
    return "assistant" if turn.role == "assistant" else "user"


def _parts(turn: Turn) -> list[Wire]:
    if turn.role == "system":
        return [_text(reminder(turn.text))]
    said = [_said(part, turn.role) for part in turn.said]
    thoughts = [_thought(part) for part in turn.thoughts if _is_anthropics(part)]
    return [*thoughts, *said, *map(_call, turn.calls), *map(_result, turn.results)]


def _is_anthropics(part: Wire) -> bool:
    """Whether a thought may go back: signed, and word for word as it was; without the tags it might close it is not."""
    said, mark = _THOUGHTS.get(part["type"], ("", ""))
    words, signed = part.get(said), part.get(mark)
    return isinstance(words, str) and isinstance(signed, str) and bool(signed) and escape(words) == words


def _thought(part: Wire) -> Wire:
    return {"type": part["type"], **{name: part[name] for name in _THOUGHTS[part["type"]]}}


def _said(part: Wire, role: str) -> Wire:
    if part["type"] == "text":
        return _text(part["text"].rstrip() if role == "assistant" else part["text"])
    return _media(part) or _text(part_text(part))


def _media(part: Wire) -> Wire | None:
    is_image = part["type"] == "image"
    source = _source(part, str(part.get("url") or ""), _IMAGES if is_image else (_PDF,))
    return {"type": "image" if is_image else "document", "source": source} if source else None


def _source(part: Wire, url: str, types: Sequence[str]) -> Wire | None:
    if _FILE_ID.fullmatch(str(part.get("file_id") or "")):
        return {"type": "file", "file_id": part["file_id"]}
    inline = inline_data(url)
    if inline and inline[0] in types:
        return {"type": "base64", "media_type": inline[0], "data": inline[1]}
    is_read = _PDF not in types or part.get("mime") == _PDF or url.partition("?")[0].lower().endswith(".pdf")
    return {"type": "url", "url": url} if url.startswith("https://") and is_read else None


def _call(part: Wire) -> Wire:
    return {"type": "tool_use", "id": wire_id(part), "name": wire_name(part), "input": arguments(part)}


def _result(part: Wire) -> Wire:
    failed = {"is_error": True} if part.get("is_error") else {}
    text, sent = result_text(part), [*filter(None, map(_media, result_media(part)))]
    content = [*([_text(text)] if text.strip() else []), *sent] if sent else text
    return {"type": "tool_result", "tool_use_id": wire_id(part), "content": content, **failed}
