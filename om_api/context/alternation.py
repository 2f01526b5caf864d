"""Turns for providers that want user and model to alternate, the user first."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from om_api.context.view import Block

Wire = dict[str, Any]
_DATA_URL = re.compile(r"data:([a-z0-9.+-]+/[a-z0-9.+-]+);base64")
EARLIER = "<system-reminder>The beginning of this conversation is not shown.</system-reminder>"


class Speech(NamedTuple):
    """All that one side says before the other answers, in a provider's parts."""

    role: str
    parts: list[Wire]


def alternating(blocks: Sequence[Block], raw: Sequence[Speech], text: Callable[[str], Wire]) -> list[Speech]:
    """The reminder, the raw messages and the last block, the user first, joining what one side says in a row.

    `text` makes a part. Where the user would not come first, it is said that the beginning is not shown.
    """
    before, after = (
        [Speech("user", [text(block.text)]) for block in blocks if block.kind == kind]
        for kind in ("continuation", "volatile")
    )
    speeches: list[Speech] = []
    for speech in (*before, *raw, *after):
        if speeches and speeches[-1].role == speech.role:
            speeches[-1].parts.extend(speech.parts)
        elif speech.parts:
            speeches.append(Speech(speech.role, list(speech.parts)))
    if speeches and speeches[0].role != "user":
        speeches.insert(0, Speech("user", [text(EARLIER)]))
    return speeches


def reminder(text: str) -> str:
    """Escaped text of the system, for a place where only users and models speak."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def inline_data(url: str) -> tuple[str, str] | None:
    """The media type and the base64 data of a data: url; None for any other."""
    head, _, data = url.partition(",")
    match = _DATA_URL.fullmatch(head)
    return (match[1], data) if match else None
