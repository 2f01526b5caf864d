"""Turns for providers that want user and model to alternate, the user first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

Wire = dict[str, Any]
_DATA_URL = re.compile(r"data:(image/[a-z0-9.+-]+);base64")
EARLIER = "<system-reminder>The beginning of this conversation is not shown.</system-reminder>"


class Speech(NamedTuple):
    """All that one side says before the other answers, in a provider's parts."""

    role: str
    parts: list[Wire]


def alternate(said: Iterable[Speech], opening: Wire) -> list[Speech]:
    """Join what one side says in a row; `opening` comes first where the user would not."""
    speeches: list[Speech] = []
    for speech in said:
        if speeches and speeches[-1].role == speech.role:
            speeches[-1].parts.extend(speech.parts)
        elif speech.parts:
            speeches.append(Speech(speech.role, list(speech.parts)))
    if speeches and speeches[0].role != "user":
        speeches.insert(0, Speech("user", [opening]))
    return speeches


def reminder(text: str) -> str:
    """Escaped text of the system, for a place where only users and models speak."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def inline_image(url: str) -> tuple[str, str] | None:
    """The media type and the base64 data of a data: url; None for any other."""
    head, _, data = url.partition(",")
    match = _DATA_URL.fullmatch(head)
    return (match[1], data) if match else None
