"""A message as the bytes that Redis keeps: read from what any language wrote, and written as we write it."""

import base64
import hashlib
from copy import copy
from typing import Any, NamedTuple

import msgspec

from om_api.domain.chat_messages import to_wire
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message, is_token_count
from om_api.domain.values import to_ms

MAX_DEPTH = 100  # levels of JSON in a message: what nests deeper is read or not by how deep the reader's own stack is
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


class EncodedMessage(NamedTuple):
    """A message that is ready to be kept, and the bytes that are kept of it."""

    message: Message
    member: bytes


def parse_member(member: bytes, thread: str, resource: str, at: float) -> Message:
    """Read a message as any language wrote it (camelCase names are accepted); the key's thread and resource win.

    `at` is the member's score. Raises InvalidInputError with the reason it is malformed.
    """
    fields = _fields_of(member)
    name, said, tokens, metadata = (fields.get(key) for key in ("id", "timestamp", "tokens", "metadata"))
    named = isinstance(name, str | int) and not isinstance(name, bool) and name != ""
    return Message(
        role=fields.get("role", ""),
        content=fields["content"],
        id=str(name) if named else derived_id(member),
        thread_id=thread,
        resource_id=resource,
        timestamp=said if to_ms(said) is not None else None,
        tokens=tokens if is_token_count(tokens) else None,
        metadata=metadata if isinstance(metadata, dict) else None,
        at=to_ms(at) or 0,
    )


def _fields_of(member: bytes) -> dict[str, Any]:
    """The fields of a message by our names for them; raises InvalidInputError unless it has a content."""
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
    parts = fields.get("content")
    if not isinstance(parts, str | list):
        raise InvalidInputError("content must be text or a list of parts")
    if isinstance(parts, list):
        fields["content"] = [_snake(part) if isinstance(part, dict) else part for part in parts]
    return fields


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
