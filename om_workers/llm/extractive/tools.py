"""Tool calls and results as short texts, whatever they are made of."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from om_api.domain.media import named
from om_api.domain.tool_calls import call_id

_DEEP = 4
_ROWS = 24
_SHORT = 48
_WIDE = 140
_ARGS = 60


def calls(parts: list[dict[str, Any]]) -> dict[str, str]:
    """The arguments of a message's tool calls as short text, each by its `key`."""
    return {key(part): ", ".join(flat(part.get("args")))[:_ARGS] for part in parts if part["type"] == "tool-call"}


def key(part: dict[str, Any]) -> str:
    """By what a call and its result are known: the id, else the tool's name, which is no id."""
    return call_id(part) or f"\0{part.get('name') or ''}"


def outcome(part: dict[str, Any], args: str) -> list[str]:
    """What a tool-result part says, as lines; a short result is told with the arguments of its call."""
    lines = flat(named(_read(part.get("result")))) or ["failed" if part.get("is_error") else ""]
    if args and len(lines) == 1 and len(lines[0]) <= _SHORT:
        return [f"({args}) {lines[0]}"]
    return [line for line in lines if line]


def _read(result: Any) -> Any:
    """A result whose text is a JSON object or list as its value; any other as it is."""
    if isinstance(result, str) and result.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):  # a text that only begins like JSON, or nests too deep
            return msgspec.json.decode(result)
    return result


def flat(value: Any, deep: int = 0) -> list[str]:
    """A JSON value as lines: an object is `key value, key value`, a list one line per item, text its own lines."""
    if isinstance(value, str):
        return [line for line in value.splitlines() if line.strip()]
    if isinstance(value, dict):
        return _object(value, deep)
    if isinstance(value, list | tuple):
        rows = [line for item in value[:_ROWS] for line in flat(item, deep + 1)[:_ROWS]] if deep < _DEEP else ["..."]
        return list(_packed(rows))
    return [] if value is None else [str(value).lower() if isinstance(value, bool) else str(value)]


def _packed(rows: list[str]) -> Iterator[str]:
    """Short rows share a line, so that a small table is one fact."""
    line = ""
    for row in rows:
        if line and len(line) + len(row) > _WIDE:
            yield line
            line = row
        else:
            line = f"{line}; {row}" if line else row
    if line:
        yield line


def _object(value: dict[Any, Any], deep: int) -> list[str]:
    """Plain fields make one line; a field that is a list of objects adds the lines of its items."""
    plain, rows = [], []
    for key, item in list(value.items())[:_ROWS]:
        lines = flat(item, deep + 1) if deep < _DEEP else ["..."]
        if len(lines) > 1 and isinstance(item, list):
            rows += lines
        elif lines:
            plain.append(f"{key} {'; '.join(lines)}")
    return [", ".join(plain), *rows] if plain else rows
