"""Models that make poor Observers or Reflectors, by patterns of their names, each with the reason: model_advice.yaml."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Role = Literal["observer", "reflector"]


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Models whose names fit one of the patterns (case does not matter), in which roles, and why."""

    patterns: tuple[str, ...]
    roles: tuple[Role, ...]
    reason: str


@cache
def advice() -> tuple[Advice, ...]:
    """All advice there is, read once a process."""
    written = files(__package__).joinpath("model_advice.yaml").read_bytes()
    return msgspec.yaml.decode(written, type=tuple[Advice, ...])


def why_not(role: Role, names: Iterable[str]) -> str:
    """The reason against a model in a role, "" if none is known; `names` are ours and its provider's for it."""
    lowered = [name.lower() for name in names]
    found = (each for each in advice() if role in each.roles and _fits(lowered, each.patterns))
    return next((each.reason for each in found), "")


def _fits(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
