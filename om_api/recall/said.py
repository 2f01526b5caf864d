"""Everything a message says, as recall looks it up: text, names of tools, what they were given and gave, names of files."""

from collections.abc import Iterator, Mapping
from typing import Any

from om_api.domain.media import named
from om_api.domain.messages import Message

_UNSAID = frozenset({"type", "tool_call_id", "signature", "data", "is_error", "detail", "tokens"})


def said(message: Message) -> str:
    """What a message says; data in base64 is named, and ids of calls are left out."""
    text = message.content if isinstance(message.content, str) else "\n".join(_said(message.content))
    return f"{message.name}: {text}" if message.name else text


def _said(parts: list[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        if part["type"] == "text":
            yield part["text"]
        else:
            try:
                yield "\n".join(_texts({key: each for key, each in named(part).items() if key not in _UNSAID}))
            except RecursionError:  # what nests a thousand lists hurts only itself
                yield str(part.get("name") or "")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)
