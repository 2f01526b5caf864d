"""What a memory is made of: plain values, their wire format and nothing that talks to anyone."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import secrets
import time
from copy import copy
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import msgspec

from om_api.chat import to_wire
from om_api.errors import InvalidInputError
from om_api.learned import learned

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLES = ("user", "assistant", "system", "tool")
PART_TYPES = ("text", "tool-call", "tool-result", "image", "file")
MAX_TOKENS = 10_000_000
MAX_DEPTH = 100  # levels of JSON in a message: what nests deeper is read or not by how deep the reader's own stack is
ID_PATTERN = re.compile(r"[A-Za-z0-9._:@+-]{1,200}")
_CAMEL = {
    "threadId": "thread_id",
    "resourceId": "resource_id",
    "tokenCount": "tokens",
    "token_count": "tokens",
    "createdAt": "timestamp",
    "toolCallId": "tool_call_id",
    "toolCalls": "tool_calls",
    "isError": "is_error",
    "mimeType": "mime",
}
_NO_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
_SECOND, _MILLI, _MICRO = 1e11, 1e14, 1e17  # below each bound a number of that unit is a date between 1973 and 5138
_EARLIEST, _LATEST = 1e8, 1e20


class Outcome(StrEnum):
    """The word a unit of work ends with."""

    REST = "rest"
    BUSY = "busy"
    SEALED = "sealed"
    BUFFERED = "buffered"
    SPLIT = "split"
    ACTIVATED = "activated"
    REFLECTED = "reflected"
    RESTORED = "restored"
    CLEARED = "cleared"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    FAILED = "failed"


def is_id(value: object) -> TypeGuard[str]:
    """Whether a value may name a key."""
    return isinstance(value, str) and ID_PATTERN.fullmatch(value) is not None and value not in {".", ".."}


def check_id(value: object, what: str) -> str:
    """Return an id that may name a key, or raise InvalidInputError naming `what` it was meant for."""
    if is_id(value):
        return value
    raise InvalidInputError(
        f"{what} {str(value)[:80]!r} is not an id: use 1 to 200 of A-Z a-z 0-9 . _ : @ + - (and not '.' or '..')"
    )


_MADE = re.compile(r"[0-9a-f]{32}")
_made = itertools.count(secrets.randbits(30))


def new_id(ms: int | None = None) -> str:
    """Return a new id that sorts by time, and by order of making within a millisecond of one process.

    12 hex digits of Unix ms, 8 of a counter, 12 random ones.
    """
    at = int(time.time() * 1000) if ms is None else ms
    return f"{at:012x}{next(_made) & 0xFFFFFFFF:08x}{os.urandom(6).hex()}"


def made_at(name: str) -> int | None:
    """When an id was made by `new_id`, in Unix ms of the clock of whoever made it; None for any other id."""
    return int(name[:12], 16) if _MADE.match(name) else None


def to_ms(value: object) -> int | None:
    """Read a time as Unix ms: ISO 8601, or a number in s, ms, µs or ns told apart by its size; None if it is no time."""
    if isinstance(value, str):
        try:
            return to_ms(float(value))
        except ValueError:
            return _iso_ms(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _EARLIEST <= value < _LATEST:
        return None
    if value < _SECOND:
        return round(value * 1000)
    if value < _MILLI:
        return round(value)
    return round(value / 1_000) if value < _MICRO else round(value / 1_000_000)


def _iso_ms(text: str) -> int | None:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


class Scope(NamedTuple):
    """What one memory record covers: a resource, or one thread of it."""

    resource: str
    thread: str | None = None

    def __str__(self) -> str:
        """Write the scope as the due indexes do: `harold`, or `harold|thread-1`."""
        return self.resource if self.thread is None else f"{self.resource}|{self.thread}"

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Read what `str` wrote; raises InvalidInputError."""
        resource, bar, thread = text.partition("|")
        return cls(check_id(resource, "resource"), check_id(thread, "thread") if bar else None)

    @classmethod
    def is_one(cls, text: str) -> bool:
        """Whether `parse` reads a text."""
        try:
            cls.parse(text)
        except InvalidInputError:
            return False
        return True


class Message(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One turn as the agent wrote it.

    `content` is text or a list of parts. `timestamp` (ISO 8601 or Unix) is for display; `at` is the Unix ms the message
    is ordered by. `tokens` left out is counted when the message is added. `tool_calls`, and `tool_call_id` with `name`, are
    taken as chat completions APIs write them and become parts. Raises InvalidInputError.
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

    def __post_init__(self) -> None:
        """Check everything a reader will rely on."""
        self.check()

    def check(self) -> None:
        """Raise InvalidInputError, should the fields have become what no reader can rely on."""
        if isinstance(self.timestamp, datetime):
            self.timestamp = self.timestamp.isoformat()
        if self.tool_calls or self.tool_call_id:
            self._take_chat()
        if problem := next(self._problems(), None):
            raise InvalidInputError(f"message {self.id or '(without id)'}: {problem}")

    def _take_chat(self) -> None:
        fields = {"role": self.role, "content": self.content, "tool_calls": self.tool_calls}
        taken = to_wire({**fields, "tool_call_id": self.tool_call_id, "name": self.name})
        self.content, self.tool_calls, self.tool_call_id, self.name = taken["content"], None, None, None

    def _problems(self) -> Iterator[str]:
        if self.role not in ROLES:
            yield f"role {str(self.role)[:40]!r} is none of {', '.join(ROLES)}"
        if self.id != "" and not is_id(self.id):
            yield "its id must be a text of 1 to 200 of A-Z a-z 0-9 . _ : @ + -"
        if self.tokens is not None and not (type(self.tokens) is int and 0 <= self.tokens <= MAX_TOKENS):
            yield f"tokens must be a whole number between 0 and {MAX_TOKENS:,}"
        if self.timestamp is not None and to_ms(self.timestamp) is None:
            yield f"timestamp {str(self.timestamp)[:40]!r} is neither ISO 8601 nor Unix time"
        yield from _content_problems(self.content)

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The content as a list of parts, text or not."""
        return [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content

    def text(self) -> str:
        """The visible text of the content; tool parts and attachments are left out."""
        return "\n".join(str(part.get("text", "")) for part in self.parts if part["type"] == "text")

    def call_ids(self, kind: str) -> set[str]:
        """The tool_call_ids of this message's parts of `kind` (tool-call or tool-result)."""
        if isinstance(self.content, str):
            return set()
        return {str(part.get("tool_call_id", "")) for part in self.parts if part["type"] == kind} - {""}


def _content_problems(content: object) -> Iterator[str]:
    if isinstance(content, list):
        yield from (problem for part in content if (problem := part_problem(part)))
    elif not isinstance(content, str):
        yield f"content must be text or a list of parts, not {type(content).__name__}"


def part_problem(part: object) -> str | None:
    """Say what is wrong with one part of a message's content, or None."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in PART_TYPES:
        return f"a part's type {str(kind)[:40]!r} is none of {', '.join(PART_TYPES)}"
    if kind == "text" and not isinstance(part.get("text"), str):  # type: ignore[attr-defined]
        return "a text part needs a text"
    return None


def parse_member(member: bytes, thread: str, resource: str, at: float) -> Message:
    """Read a message as any language wrote it (camelCase names are accepted); the key's thread and resource win.

    `at` is the member's score. Raises InvalidInputError with the reason it is malformed.
    """
    _check_depth(member)
    try:
        fields = msgspec.json.decode(member)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidInputError("not a JSON object")
    fields = _snake(fields)
    if fields.get("tool_calls") or fields.get("tool_call_id"):
        fields = to_wire(fields)
    if not isinstance(fields.get("content"), str | list):
        raise InvalidInputError("content must be text or a list of parts")
    parts = fields["content"]
    if isinstance(parts, list):
        fields["content"] = [_snake(part) if isinstance(part, dict) else part for part in parts]
    name, tokens = fields.get("id"), fields.get("tokens")
    metadata = fields.get("metadata")
    return Message(
        role=fields.get("role", ""),
        content=fields["content"],
        id=str(name)
        if isinstance(name, str | int) and str(name) and not isinstance(name, bool)
        else derived_id(member),
        thread_id=thread,
        resource_id=resource,
        timestamp=fields["timestamp"] if to_ms(fields.get("timestamp")) is not None else None,
        tokens=tokens if type(tokens) is int and 0 <= tokens <= MAX_TOKENS else None,
        metadata=metadata if isinstance(metadata, dict) else None,
        at=to_ms(at) or 0,
    )


def _check_depth(member: bytes) -> None:
    if member.count(b"{") + member.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for byte in _brackets(member):
        depth += 1 if byte in b"{[" else -1
        if depth > MAX_DEPTH:
            raise InvalidInputError(f"it nests deeper than {MAX_DEPTH} levels of JSON")


def _brackets(member: bytes) -> bytes:
    """The brackets of JSON, without those in its texts; each step of it is short, however long the member is."""
    texts = member.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
    return b"".join(texts[::2]).translate(None, _NO_BRACKETS)


def _snake(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.keys().isdisjoint(_CAMEL):
        return fields
    named = {_CAMEL.get(key, key): value for key, value in fields.items()}
    return {**named, **{key: value for key, value in fields.items() if key not in _CAMEL}}


def derived_id(member: bytes) -> str:
    """The id of a message that was written without one: a hash of its bytes."""
    return "h-" + hashlib.sha256(member).hexdigest()[:32]


def fingerprint(member: bytes) -> str:
    """A short mark of a member's bytes, kept beside its id in `seen`; `=` keeps it apart from every id."""
    return "=" + base64.urlsafe_b64encode(hashlib.sha1(member, usedforsecurity=False).digest()[:9]).decode()


def encode_message(message: Message) -> bytes:
    """Write a message as the member that Redis keeps; `at` is not part of it. Raises InvalidInputError."""
    written = message
    if message.at:
        written = copy(message)
        written.at = 0
    try:
        member = msgspec.json.encode(written)
        _check_depth(member)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise InvalidInputError(f"message {message.id}: cannot be written as JSON: {error}") from None
    return member


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """Sealed messages and, once `ready`, the observation computed from them (its JSON in `observation`)."""

    id: str
    thread: str
    seq: float
    tokens: int
    messages: int
    ready: bool = False
    attempts: int = 0
    sealed_at: int = 0
    observation: bytes | None = None


@learned
class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One Observer result for one thread: dated lines, covering named messages."""

    id: str
    thread_id: str
    text: str
    activation: str = ""
    priority: int = 3
    task_state: str = ""
    suggested_response: str = ""
    message_ids: tuple[str, ...] = ()
    source_range: tuple[str, ...] = ()
    from_: int = msgspec.field(default=0, name="from")
    to: int = 0
    tokens: int = 0
    message_tokens: int = 0
    model: str = ""
    cost: float | None = None
    created_at: int = 0


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One usable answer that a reflection was chosen from; `loss` is None where it was not checked."""

    level: int
    tokens: int
    loss: float | None = None
    model: str = ""


@learned
class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """A numbered version of the reflected memory; the highest number is in force.

    `loss` (0 to 1) is what the check before the commit found missing, `candidates` the answers that were compared, in the
    order they came. `restores` names the generation that this one brought back, 0 for the time before the first.
    """

    n: int
    text: str
    origin: str = "reflection"
    created_at: int = 0
    tokens: int = 0
    input_tokens: int = 0
    observation_ids: tuple[str, ...] = ()
    dropped_ids: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    level: int = 0
    loss: float | None = None
    candidates: tuple[Candidate, ...] = ()
    restores: int | None = None
    model: str = ""
    cost: float | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A scope's bookkeeping. `epoch` is '' while nothing was sealed; token totals are kept by tier."""

    schema: int = 1
    epoch: str = ""
    generation: int = 0
    seq: float = 0
    origin: str = "initial"
    chunk_tokens: int = 0
    observation_tokens: int = 0
    observation_count: int = 0
    reflection_tokens: int = 0
    observed_tokens: int = 0
    observed_messages: int = 0
    limits: str = ""
    drain: float = 0
    created_at: int = 0
    observed_at: int = 0
    reflected_at: int = 0


class Stored(NamedTuple):
    """An observation and its place: `seq` was drawn at activation, `member` is its JSON as Redis keeps it."""

    seq: float
    observation: Observation
    member: bytes


class ThreadState(msgspec.Struct, frozen=True, kw_only=True):
    """One thread of a resource: what is unsealed of it and what the Observer last said of its task."""

    id: str
    tokens: int = 0
    messages: int = 0
    at: int = 0
    current_task: str = ""
    suggested_response: str = ""
    title: str = ""


class Snapshot(msgspec.Struct, kw_only=True):
    """Everything a scope's context is made of, read at one instant.

    `messages` are the own thread's raw messages, sealed ones included, by score; `others` the newest raw messages of
    other threads (oldest first in each) with how many each holds in `other_counts`. `signing_key` is the resource's
    secret, "" while it has none.
    """

    scope: Scope
    thread: ThreadState
    record: Record
    messages: list[Message]
    chunks: list[Chunk]
    observations: list[Stored]
    generation: Generation | None = None
    others: dict[str, list[Message]] = {}
    other_counts: dict[str, int] = {}
    unsealed: dict[str, tuple[int, int]] = {}
    unsealed_tokens: int = 0
    paused: bool = False
    signing_key: str = ""
    now: int = 0
