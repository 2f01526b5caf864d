"""Models that make poor Observers or Reflectors, by patterns of their names, each with the reason."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Role = Literal["observer", "reflector"]
_BOTH: tuple[Role, ...] = ("observer", "reflector")
_OBSERVER: tuple[Role, ...] = ("observer",)


class Discouraged(NamedTuple):
    """Models whose names fit one of the patterns (case does not matter), in which roles, and why."""

    patterns: tuple[str, ...]
    roles: tuple[Role, ...]
    reason: str


DISCOURAGED = (
    Discouraged(
        ("*claude-*-4-5*", "*claude-*-4.5*", "*claude-4-5*", "*claude-4.5*"),
        _BOTH,
        "this generation is reported not to work well as an observer or a reflector of this kind of notes",
    ),
    Discouraged(
        ("*gemini-1.5-*", "*gemini-2.0-*"),
        _BOTH,
        "its provider has retired it or will, and it is known for loops in long answers, which are discarded",
    ),
    Discouraged(
        (
            "*deepseek-reasoner*",
            "*deepseek-r1*",
            "*qwq*",
            "*-thinking*",
            "o1*",
            "*/o1*",
            "o3*",
            "*/o3*",
            "o4-*",
            "*/o4-*",
        ),
        _OBSERVER,
        "it thinks before it answers, and thoughts are billed as output: a call may cost several times its notes",
    ),
    Discouraged(
        ("*embedding*", "*-tts*", "*-image*", "*whisper*", "*dall-e*", "*imagen-*"),
        _BOTH,
        "it does not write text",
    ),
)


def why_not(role: Role, names: Iterable[str]) -> str:
    """The reason against a model in a role, "" if none is known; `names` are ours and its provider's for it."""
    lowered = [name.lower() for name in names]
    found = (each for each in DISCOURAGED if role in each.roles and _fits(lowered, each.patterns))
    return next((each.reason for each in found), "")


def _fits(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
