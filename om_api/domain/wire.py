"""A message as the bytes that Redis keeps: read from what any language wrote, and written as we write it."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import TOO_LONG, Message, is_token_count
from om_api.domain.nesting import check_depth
from om_api.domain.texts.surrogates import decode_json
from om_api.domain.values import MemoryMode, shown, to_ms, traceparent
from om_api.domain.vendors.message import to_wire
from om_api.domain.vendors.parts import CAMEL, snake

_CAMEL = {**CAMEL, "threadId": "thread_id", "resourceId": "resource_id", "toolCalls": "tool_calls"}
# where a vendor's reply has its message
_REPLIES = {
    "choices": "reply.choices[0].message",
    "output": "each of reply.output",
    "candidates": "reply.candidates[0].content",
}
_STRICT = ("id", "role", "content", "timestamp", "tokens", "metadata", "name")
_EXAMPLE = '{"role": "user", "content": "…"}'


@runtime_checkable
class Dumpable(Protocol):
    """What an SDK gives: a model of pydantic."""

    def model_dump(self) -> dict[str, Any]:
        """Its fields."""


Given: TypeAlias = Message | Mapping[str, Any] | Dumpable  # a message as agents may hand it over
_GIVEN = (Message, Mapping, Dumpable)


class EncodedMessage(NamedTuple):
    """A message that is ready to be stored, and its bytes in the store; `dated`: its writer gave it a time.

    `memory` is the memory mode to set for its thread; None leaves the mode unchanged.
    """

    message: Message
    member: bytes
    dated: bool = True
    memory: MemoryMode | None = None


def parse_member(member: bytes, thread: str, resource: str, at: float) -> Message:
    """Read a message as any language wrote it (camelCase names are accepted); the key's thread and resource win.

    `at` is the member's score. Raises InvalidInputError with the reason it is malformed.
    """
    fields = _fields_of(member)
    name, said, tokens, metadata = (fields.get(key) for key in ("id", "timestamp", "tokens", "metadata"))
    return Message(
        role=fields.get("role", ""),
        content=fields["content"],
        id=name if isinstance(name, str) and name else derived_id(member),
        thread_id=thread,
        resource_id=resource,
        timestamp=said if to_ms(said) is not None else None,
        tokens=tokens if is_token_count(tokens) else None,
        metadata=metadata if isinstance(metadata, dict) else None,
        at=to_ms(at) or 0,
        name=fields["name"] if isinstance(fields.get("name"), str) else None,
        traceparent=traceparent(fields.get("traceparent")),
    )


def message_of(given: Given, thread: str | None = None, resource: str | None = None) -> Message:
    """A message as agents hand it over: ours, a vendor's as a dict, or its SDK's object. What it says of its place wins.

    Raises InvalidInputError.
    """
    if isinstance(given, Message):
        return _filled(given, thread, resource)
    return message_of_json(_plain(given), thread, resource)


def message_of_json(said: dict[str, Any], thread: str | None = None, resource: str | None = None) -> Message:
    """The same of a message that JSON said, none of which is copied for it."""
    fields = _wire(said)
    if fields.get("content") is None:
        raise InvalidInputError(f"content must be text or a list of parts; {_hint(said)}")
    place = {
        "thread_id": fields.get("thread_id") or thread or "",
        "resource_id": fields.get("resource_id") or resource or "",
    }
    own = {name: fields[name] for name in _STRICT if fields.get(name) is not None}
    return Message(**{"role": "", **own, **place}, traceparent=traceparent(fields.get("traceparent")))


def _filled(message: Message, thread: str | None, resource: str | None) -> Message:
    if (message.thread_id or not thread) and (message.resource_id or not resource):
        return message
    place = {"thread_id": message.thread_id or thread, "resource_id": message.resource_id or resource}
    return msgspec.structs.replace(message, **{name: value for name, value in place.items() if value})


def placed(messages: Iterable[Given], thread: str | None = None, resource: str | None = None) -> Iterator[Message]:
    """Each message by `message_of`; what is none at all goes by, for whoever checks messages.

    Raises InvalidInputError at once for what is no list of messages, such as one alone.
    """
    if not isinstance(messages, list) and not _are_several(messages):
        raise InvalidInputError(f"messages must be a list of them, not {type(messages).__name__}: [{_EXAMPLE}]")
    return (message_of(given, thread, resource) if isinstance(given, _GIVEN) else given for given in messages)


def _are_several(messages: object) -> bool:
    return isinstance(messages, Iterable) and not isinstance(messages, (*_GIVEN, str, bytes))


def no_message(given: object) -> str:
    """What to say of what is no message at all."""
    return f"it must be a Message, not {type(given).__name__}; a dict or an SDK's object will do: {_EXAMPLE}"


def _plain(given: Mapping[str, Any] | Dumpable) -> dict[str, Any]:
    """What an SDK's object says, as JSON has it: no objects within it, and its bytes in base64."""
    try:
        plain = msgspec.to_builtins(given, str_keys=True, enc_hook=_dumped)
    except RecursionError:
        raise InvalidInputError("it nests too deeply") from None
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"it cannot be written as JSON: {error}") from None
    if not isinstance(plain, dict):
        raise InvalidInputError(f"a message is an object, not {str(plain)[:40]!r}")
    return plain


def _dumped(value: Any) -> Any:
    if isinstance(value, Dumpable):
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is neither JSON nor an SDK's object")


def _fields_of(member: bytes) -> dict[str, Any]:
    """The fields of a message by our names for them; raises InvalidInputError unless it has a content."""
    check_depth(member)
    try:
        read: Any = decode_json(member)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(unreadable(error)) from None
    if not isinstance(read, dict):
        raise InvalidInputError("not a JSON object")
    fields = _wire(read)
    if not isinstance(fields.get("content"), str | list):
        raise InvalidInputError("content must be text or a list of parts")
    return fields


def unreadable(error: Exception) -> str:
    """Why a message cannot be read from JSON."""
    return f"{TOO_LONG} ({error})" if isinstance(error, msgspec.ValidationError) else f"not JSON: {error}"


def _hint(said: dict[str, Any]) -> str:
    """What to hand over instead of a vendor's whole reply, or what a message has that has no content."""
    message = next((path for name, path in _REPLIES.items() if name in said and "role" not in said), None)
    return f"of a reply it is {message}" if message else f"it has {', '.join(map(str, said)) or 'nothing'}"


def _wire(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields by our names: an id may be a number, and a vendor's time of creation is the message's."""
    if type(fields.get("id")) is int:
        fields = {**fields, "id": shown(fields["id"], 201)}
    created, said = fields.get("created_at"), fields.get("timestamp") or fields.get("createdAt")
    if said is None and to_ms(created) is not None:
        fields = {name: value for name, value in fields.items() if name != "created_at"} | {"timestamp": created}
    try:
        return to_wire(snake(fields, _CAMEL))
    except ValueError as error:
        raise InvalidInputError(TOO_LONG if "digits" in str(error) else str(error)) from None


def _check_numbers(message: Message, member: bytes) -> None:
    """Raise ValueError for a number that JSON has not: null would stand in its place."""
    if b"null" in member and not _is_finite([message.content, message.metadata]):
        raise ValueError("it holds NaN or Infinity; write it as a text, or leave it out")


def _is_finite(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def derived_id(member: bytes) -> str:
    """The id of a message that was written without one: a hash of its bytes."""
    return "h-" + hashlib.sha256(member).hexdigest()[:32]


def encode_message(message: Message) -> bytes:
    """Write a message as the member that Redis keeps; `at` is not part of it. Raises InvalidInputError."""
    written = message
    if message.at:
        written = copy(message)
        written.at = 0
    try:
        member = msgspec.json.encode(written)
        check_depth(member)
        _check_numbers(written, member)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        why = TOO_LONG if "digits" in str(error) else f"cannot be written as JSON: {error}"
        raise InvalidInputError(f"message {message.id or '(without id)'}: {why}") from None
    return member
