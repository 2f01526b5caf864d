"""Errors in plain words: file, key, what is there, what is permitted, and never a password."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from om_api.settings.catalogue import about, dotted, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_LONGEST = 60


def explain(error: ValidationError | RecursionError, origin: Mapping[str, str], source: str) -> str:
    """Say what is wrong, one line for each key; `origin` leads keys to files, `source` is named where it does not."""
    if isinstance(error, RecursionError):
        return f"{source}: a value contains itself; permitted: no YAML alias inside its own anchor"
    return "\n".join(dict.fromkeys(_line(item, origin, source) for item in error.errors(include_url=False)))


def _line(item: ErrorDetails, origin: Mapping[str, str], source: str) -> str:
    path = tuple(map(str, item["loc"]))
    path = path[1:] if path[:1] == ("observational_memory",) else path
    if item["type"] == "contradiction":
        return _contradiction(item, path, origin, source)
    where = _file(dotted(path), origin, source)
    if item["type"] == "advice":
        return f"{where}: {dotted(path)}: {item['msg']}"
    if item["type"] == "extra_forbidden":
        return f"{where}: {dotted(path)} is not a setting; {nearest(path)}"
    return f"{where}: {dotted(path)} is {_shown(item['input'], about(path))}; permitted: {_permitted(item, path)}"


def _contradiction(item: ErrorDetails, path: tuple[str, ...], origin: Mapping[str, str], source: str) -> str:
    keys = [dotted((*path, key)) for key in item["ctx"]["keys"]]
    files = dict.fromkeys(origin[key] for key in keys if key in origin)
    inside = f"{dotted(path)}: " if path else ""
    return f"{' with '.join(files) or source}: {inside}{item['msg']}"


def _file(key: str, origin: Mapping[str, str], source: str) -> str:
    """The file that states a key, or the mapping it stands in, or something inside it."""
    if key in origin:
        return origin[key]
    parent = key.rpartition(".")[0]
    return _file(parent, origin, source) if parent else source


def _shown(value: object, described: Mapping[str, Any]) -> str:
    if described.get("secret"):
        return "not usable"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _permitted(item: ErrorDetails, path: tuple[str, ...]) -> str:
    return str(about(path).get("permitted", item["msg"]))
