"""One turn of a conversation as an agent wrote it, and what can be wrong with it."""

import re
from datetime import datetime
from typing import Any, TypeGuard

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.folding import one_line
from om_api.domain.texts.normal_forms import normalize
from om_api.domain.texts.surrogates import whole_text, whole_value
from om_api.domain.values import is_id, shown, to_ms
from om_api.domain.vendors.message import ROLES as VENDORS_ROLES
from om_api.domain.vendors.message import to_wire
from om_api.domain.vendors.ours import THOUGHTS
from om_api.domain.vendors.parts import to_parts

ROLES = ("user", "assistant", "system", "tool")
# others are kept, and shown by their names
PART_TYPES = ("text", "tool-call", "tool-result", "image", "file", *THOUGHTS)
MAX_TOKENS = 10_000_000
TOO_LONG = "it holds a number that is too long for readers of JSON (more than 4,300 digits, or beyond 1e308): write it as a text"
_NO_CHAT = (None, None)
LONGEST_SPEAKER = 64
_NOT_IN_SPEAKERS = str.maketrans(dict.fromkeys(':：<>＜＞﹤﹥[]"', " "))
_OUR_LABELS = re.compile(
    r"\W*(?:the )?(?:user|human|assistant|agent|ai|model|system|developer|tool|function)\b", re.IGNORECASE
)


class Message(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One turn as the agent wrote it.

    `content` is text or a list of parts. `timestamp` (ISO 8601 or Unix) is for display; `at` is the Unix ms the message
    is ordered by. `tokens` left out is counted when the message is added. `traceparent` names the span that it was added by,
    "" for none: docs/tracing.md. Roles, parts and calls may be written as OpenAI, Anthropic or Gemini write them, and
    become ours: `content` is the same for the same words, whenever they come. A lone surrogate in any text becomes U+FFFD.
    Raises InvalidInputError.
    """

    id: str = ""  # first in the JSON: members of one millisecond are ordered by their bytes, so by their ids
    role: str
    content: str | list[dict[str, Any]]
    thread_id: str = ""
    resource_id: str = ""
    timestamp: str | int | float | datetime | None = None
    tokens: int | None = None
    metadata: dict[str, Any] | None = None
    at: int = 0
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    traceparent: str = ""

    def __post_init__(self) -> None:
        """Check everything a reader will rely on."""
        self.check()

    def check(self) -> None:
        """Raise InvalidInputError, should the fields have become what no reader can rely on."""
        if isinstance(self.timestamp, datetime):
            self.timestamp = self.timestamp.isoformat()
        if type(self.content) is not str or self.role not in ROLES or (self.tool_calls, self.tool_call_id) != _NO_CHAT:
            self._take_vendors()
        self._take_whole_characters()
        if problem := self._problem():
            raise InvalidInputError(f"message {shown(self.id) or '(without id)'}: {problem}")

    def _take_vendors(self) -> None:
        chat = {"tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id, "name": self.name}
        try:
            if self.content is None or shown(self.role) in VENDORS_ROLES or self.tool_calls or self.tool_call_id:
                taken = to_wire({"role": self.role, "content": self.content, **chat})
                self.role, self.content, self.name = taken["role"], taken["content"], taken["name"]
            self.tool_calls = self.tool_call_id = None
            if isinstance(self.content, list):
                self.content = to_parts(self.content)
        except RecursionError:
            raise InvalidInputError(f"message {shown(self.id) or '(without id)'}: it nests too deeply") from None
        except ValueError as error:
            raise InvalidInputError(f"message {shown(self.id) or '(without id)'}: {error}") from None

    def _take_whole_characters(self) -> None:
        content = self.content
        self.content = whole_text(content) if isinstance(content, str) else whole_value(content)
        if self.metadata:
            self.metadata = whole_value(self.metadata)
        if isinstance(self.name, str):
            self.name = whole_text(self.name)

    def _problem(self) -> str | None:
        if self.role not in ROLES:
            told = f"role {shown(self.role)!r} is none of" if self.role else "role is missing: it is one of"
            return f"{told} {', '.join([*ROLES, *VENDORS_ROLES])}"
        if self.id != "" and not is_id(self.id):
            return "its id must be a text of 1 to 200 of A-Z a-z 0-9 . _ : @ + -"
        if self.tokens is not None and not is_token_count(self.tokens):
            return f"tokens must be a whole number between 0 and {MAX_TOKENS:,}"
        if self.timestamp is not None and to_ms(self.timestamp) is None:
            return f"timestamp {shown(self.timestamp)!r} is neither ISO 8601 nor Unix time"
        return _content_problem(self.content)

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The content as a list of parts, text or not."""
        return [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content

    @property
    def speaker(self) -> str:
        """The speaker, from `name`: one line of at most 64 characters; "" without a name, and for tools and the system.

        A user with a name like a role (`Assistant`, `System`) is `User "Assistant"`; an assistant is always
        `Assistant "planner"`.
        """
        if not self.name or self.role not in {"user", "assistant"}:
            return ""
        name = normalize("NFKC", self.name[: 4 * LONGEST_SPEAKER]).translate(_NOT_IN_SPEAKERS)
        name = one_line(name)[:LONGEST_SPEAKER].strip()
        if not name or name.casefold() == self.role:
            return ""
        if self.role == "user" and not _OUR_LABELS.match(name):
            return name
        return f'{self.role.capitalize()} "{name}"'

    def text(self) -> str:
        """The visible text of the content; tool parts and attachments are left out."""
        return "\n".join(str(part.get("text", "")) for part in self.parts if part["type"] == "text")


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether somebody's count of tokens is to be believed."""
    return type(value) is int and 0 <= value <= MAX_TOKENS


def _content_problem(content: object) -> str | None:
    if isinstance(content, list):
        return next(filter(None, map(part_problem, content)), None)
    return (
        None if isinstance(content, str) else f"content must be text or a list of parts, not {type(content).__name__}"
    )


def part_problem(part: object) -> str | None:
    """Say what is wrong with one part of a message's content, or None."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return f"a part is a text or an object, not {str(part)[:40]!r}"
    if part["type"] == "text" and not isinstance(part.get("text"), str):
        return "a text part needs a text"
    return None
