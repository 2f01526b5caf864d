"""Parts of a message's content, whoever's they are."""

from collections.abc import Callable
from operator import is_
from typing import Any

from om_api.domain.vendors import anthropic, gemini, openai
from om_api.domain.vendors.ours import Part, rest, text

CAMEL = {
    "toolCallId": "tool_call_id",
    "isError": "is_error",
    "mimeType": "mime",
    "tokenCount": "tokens",
    "token_count": "tokens",
    "createdAt": "timestamp",
}
_CHANGED = {*CAMEL, "cache_control"}
_OURS = ("text", "tool-call", "tool-result", "image", "file")


def to_parts(content: list[Any]) -> list[Any]:
    """The parts in our form; the list itself if all have it. The same is always made of the same, and of what was made itself."""
    made = [_part(part) for part in content if part is not None]
    return content if len(made) == len(content) and all(map(is_, made, content)) else made


def snake(fields: Part, names: dict[str, str]) -> Part:
    """The fields by our names for them; where there are both, ours win."""
    if fields.keys().isdisjoint(names):
        return fields
    named = {names.get(key, key): value for key, value in fields.items()}
    return {**named, **{key: value for key, value in fields.items() if key not in names}}


def whole(result: Part) -> Part:
    """A tool's result whose content may be parts: texts become one, others are in our form."""
    given = result["result"]
    if not isinstance(given, list):
        return result
    made = to_parts(given)
    if made and all(isinstance(part, dict) and part.get("type") == "text" for part in made):
        return {**result, "result": "\n".join(str(part.get("text")) for part in made)}
    return {**result, "result": made}


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return text(part)
    if not isinstance(part, dict):
        return part  # which is refused
    kind = part.get("type")
    if not isinstance(kind, str):
        return gemini.part(part)
    if kind == "text" and len(part) == 2 and part.get("text") is not None:  # noqa: PLR2004 - as most parts are
        return part
    if kind not in _KINDS and part.keys().isdisjoint(_CHANGED) and None not in part.values():
        return part
    return _as_it_was(_KINDS.get(kind, rest)(snake(part, CAMEL) if kind in _OURS else part), part)


def _as_it_was(made: Part, part: Part) -> Part:
    same = len(made) == len(part) and all(name in made and made[name] is value for name, value in part.items())
    return part if same else made


_KINDS: dict[str, Callable[[Part], Part]] = {
    **openai.PARTS,
    **anthropic.BLOCKS,
    "text": lambda part: text(part["text"], rest(part, "type", "text")) if "text" in part else part,
    "tool_result": lambda part: whole(anthropic.BLOCKS["tool_result"](part)),
}
KNOWN = frozenset({*_KINDS, *_OURS})  # types of what stands within a message: alone, one says not whose it is
