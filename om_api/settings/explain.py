"""Errors in plain words: file, key, what is there, what is permitted, and never a password."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from om_api.settings.catalogue import about, dotted, nearest
from om_api.settings.documents import plain

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_MOST_LINES = 5
_LONGEST_LINE = 1_000


def explain(error: ValidationError, origin: Mapping[str, str], source: str) -> str:
    """Say what is wrong, one line for each key, of many the first; `origin` leads to files, where it does not, `source`."""
    found = error.errors(include_url=False)
    lines = [plain(_line(item, origin, source), _LONGEST_LINE) for item in found[:_MOST_LINES]]
    more = [f"{source}: {len(found) - _MOST_LINES:,} more like these"] if len(found) > _MOST_LINES else []
    return "\n".join(dict.fromkeys((*lines, *more)))


def _line(item: ErrorDetails, origin: Mapping[str, str], source: str) -> str:
    stated = tuple(map(str, item["loc"]))
    stated = stated[1:] if stated[:1] == ("observational_memory",) else stated
    path = tuple(map(plain, stated))
    if item["type"] == "contradiction":
        return _contradiction(item, stated, origin, source)
    where = _file(stated, origin, source)
    if item["type"] == "advice":
        return f"{where}: {dotted(path)}: {item['msg']}"
    if item["type"] == "extra_forbidden":
        return f"{where}: {dotted(path)} is not a setting; {nearest(path)}"
    described = about(path)
    shown = "not usable" if described.get("secret") else plain(json.dumps(item["input"], ensure_ascii=False))
    return f"{where}: {dotted(path)} is {shown}; permitted: {described.get('permitted', item['msg'])}"


def _contradiction(item: ErrorDetails, path: tuple[str, ...], origin: Mapping[str, str], source: str) -> str:
    keys = [dotted((*path, key)) for key in item["ctx"]["keys"]]
    files = dict.fromkeys(origin[key] for key in keys if key in origin)
    inside = f"{dotted(path)}: " if path else ""
    return f"{' with '.join(files) or source}: {inside}{item['msg']}"


def _file(path: tuple[str, ...], origin: Mapping[str, str], source: str) -> str:
    """The file that states a key, or the mapping it stands in, or something inside it."""
    above = (dotted(path[:size]) for size in range(len(path), 0, -1))
    return next((origin[key] for key in above if key in origin), source)
