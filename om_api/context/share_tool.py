"""Sharing as a tool of the Actor: its schema as providers take it, what a call asks, and the answer as text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.context.tool_formats import object_of, tool_of
from om_api.domain.errors import InvalidInputError
from om_api.domain.tags import escape
from om_api.domain.tool_calls import SHARE
from om_api.domain.values import shown

NAME = SHARE
LONGEST = 2_000  # characters of a note
_NOBODY = "no memory at all: the setting compose names none that takes something (share)"
_WHAT = (
    "Tell a memory that others read what they should know: a decision, a preference or a lasting fact, in one sentence that says "
    "who and what. Share nothing private, and nothing that was not said."
)


class SharedNote(NamedTuple):
    """What a call asks to be told, and to which memory."""

    text: str
    target: str


def share_tool(targets: Sequence[str], format: str = "openai") -> dict[str, Any]:  # noqa: A002 - as the providers call it
    """The tool as a provider's list of tools takes it; `targets` are the memories that may be told something.

    Raises InvalidInputError where there is none: a provider takes no tool whose choices are empty.
    """
    if not targets:
        raise InvalidInputError(
            f"nothing may be told to {_NOBODY}; set compose: [{{resource: team, share: [decisions]}}]"
        )
    properties = {
        "text": {"type": "string", "description": "What they should know, in one sentence."},
        "with": {"type": "string", "enum": list(targets), "description": "Whose memory it goes to."},
    }
    return tool_of(NAME, _WHAT, {"type": "object", "properties": properties, "required": ["text", "with"]}, format)


def note_of(call: Any, targets: Sequence[str]) -> SharedNote:
    """What a call asks; raises InvalidInputError where that cannot be."""
    given = object_of(call)
    text, target = given.get("text"), given.get("with")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise InvalidInputError(f"a call needs a text of 1 to {LONGEST:,} characters: what others should know")
    if target not in targets:
        raise InvalidInputError(f"with is {shown(target)!r}: permitted is {', '.join(targets) or _NOBODY}")
    return SharedNote(text, str(target))


def told(note: SharedNote) -> str:
    """The answer to a call that was carried out."""
    return f"It stands in the memory of {note.target} now."


def not_shared(reason: str) -> str:
    """The answer to a call that cannot be carried out."""
    return escape(f"Nothing was shared: {reason}".encode("utf-8", "replace").decode())
