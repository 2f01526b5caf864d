"""The largest size of a message, and how a larger one in a history is cut."""

from collections.abc import Sized
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec import structs

from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.media import named
from om_api.domain.messages import Message
from om_api.domain.texts.surrogates import decode_json

MAX_TEXT = 1024 * 1024  # bytes of JSON of a message without its media and metadata
MAX_METADATA = 64 * 1024  # bytes of JSON of a message's metadata, which each read decodes
MAX_SIZE = 8 * 1024 * 1024  # bytes of JSON of the whole message
MAX_PARTS = 10_000  # parts of a message's content
_ESCAPED = 6  # bytes of JSON that a character may take
_SHARE = 0.95  # of the room that a cut text takes, because characters differ in bytes
_MARKED = 200  # characters of the mark, at most
_CUT = "[… {left:,} characters were cut here: a message may have {most:,} bytes of text …]"
_CUT_PARTS = "[… {left:,} parts were cut here: a message may have {most:,} parts …]"
_TEXTS = {"text": "text", "tool-result": "result", "tool-call": "args"}  # kinds of parts, and the field of their text


@learned
class _Member(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw()


def check_size(message: Message, member: bytes) -> None:
    """Raise InvalidInputError for a message, encoded as `member`, that is too large to be stored."""
    if isinstance(message.content, list):
        try:
            check_parts(message.content)
        except InvalidInputError as error:
            raise InvalidInputError(f"message {message.id or '(without id)'}: {error}") from None
    name = message.id or "(without id)"
    if len(member) > MAX_METADATA and (size := _metadata_size(message)) > MAX_METADATA:
        raise InvalidInputError(f"message {name}: {_metadata_problem(size)}")
    if len(member) <= MAX_TEXT:
        return
    if len(member) > MAX_SIZE:
        raise InvalidInputError(f"message {name} is too large: {len(member):,} bytes (maximum {MAX_SIZE:,}); split it")
    if (size := _text_size(message.content)) > MAX_TEXT:
        raise InvalidInputError(
            f"message {name} is too large: {size:,} bytes without its media (maximum {MAX_TEXT:,}); split it"
        )


def check_parts(parts: Sized) -> None:
    """Raise InvalidInputError for more parts than a message may have."""
    if len(parts) > MAX_PARTS:
        raise InvalidInputError(f"too many parts: {len(parts):,} (maximum {MAX_PARTS:,}); split it")


def check_metadata(written: bytes) -> None:
    """Raise InvalidInputError for metadata that is too large in any encoding, by its JSON as it was sent.

    It is not decoded for this. `check_size` is exact.
    """
    if (size := len(written) // _ESCAPED) > MAX_METADATA:
        raise InvalidInputError(_metadata_problem(size))


def _metadata_problem(size: int) -> str:
    return f"metadata is too large: at least {size:,} bytes (maximum {MAX_METADATA:,}); shorten it"


def check_member(member: bytes) -> None:
    """Raise InvalidInputError for a stored message with too much metadata; another problem of it is left to its reader."""
    if len(member) > MAX_METADATA:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            check_metadata(bytes(decode_json(member, partial(msgspec.json.decode, type=_Member)).metadata))


def fitted(message: Message) -> Message:
    """The message in a permitted size: the middle of its longest texts is cut, and data is left out if need be.

    Of too many parts the middle ones are cut. Metadata that is too large is left out.

    The result depends on the message only, so that a history that is sent again is recognised.
    """
    content = message.content
    if isinstance(content, str) and len(content) * _ESCAPED <= MAX_TEXT and message.metadata is None:
        return message
    try:
        return _fitted(message)
    except (TypeError, ValueError, RecursionError):  # it cannot be encoded, and is refused then
        return message


def _fitted(message: Message) -> Message:
    parts = message.content
    if isinstance(parts, list) and len(parts) > MAX_PARTS:
        left = len(parts) - MAX_PARTS + 1
        mark = {"type": "text", "text": _CUT_PARTS.format(left=left, most=MAX_PARTS)}
        half = MAX_PARTS // 2
        message = structs.replace(message, content=[*parts[:half], mark, *parts[half + left :]], tokens=None)
    if _metadata_size(message) > MAX_METADATA:
        message = structs.replace(message, metadata=None)
    if _whole_size(message) <= MAX_TEXT:
        return message
    if _text_size(message.content) > MAX_TEXT:
        message = structs.replace(message, content=_cut(message.content), tokens=None)
    if _whole_size(message) > MAX_SIZE - MAX_TEXT // 4:
        content = message.content if isinstance(message.content, str) else _without_data(named(message.content))
        message = structs.replace(message, content=content, tokens=None)
    return message


def _metadata_size(message: Message) -> int:
    return len(msgspec.json.encode(message.metadata))


def _whole_size(message: Message) -> int:
    return len(msgspec.json.encode(message.content)) + _metadata_size(message)


def _text_size(content: str | list[dict[str, Any]]) -> int:
    if isinstance(content, str):
        return len(content) if len(content) * _ESCAPED <= MAX_TEXT else len(msgspec.json.encode(content))
    size = len(msgspec.json.encode(content))
    return size if size <= MAX_TEXT else len(msgspec.json.encode(named(content)))


def _cut(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return _shorter(content, MAX_TEXT)
    parts = [*content]
    sizes = [_text_size([part]) for part in parts]
    over = sum(sizes) - MAX_TEXT // 2
    for place in sorted(range(len(parts)), key=lambda place: -sizes[place]):
        if over <= 0:
            break
        most = max(sizes[place] - over, MAX_TEXT // (4 * len(parts)), _MARKED)
        parts[place] = _shorter_part(parts[place], most)
        over -= sizes[place] - _text_size([parts[place]])
    return parts


def _shorter_part(part: dict[str, Any], most: int) -> dict[str, Any]:
    key = _TEXTS.get(part["type"])
    if key is None:
        return {"type": "text", "text": _shorter(msgspec.json.encode(named(part)).decode(), most)}
    value = part.get(key)
    text = value if isinstance(value, str) else msgspec.json.encode(named(value)).decode()
    return {**part, key: _shorter(text, most)}


def _shorter(text: str, most: int) -> str:
    """Both ends of a text in `most` bytes of JSON, with a mark between them that says how much was cut."""
    size, room = len(msgspec.json.encode(text)), max(most - _MARKED, 0)
    if size <= most:
        return text
    keep = int(len(text) * room / size * _SHARE)
    while True:
        made = f"{text[: keep - keep // 3]}{_CUT.format(left=len(text) - keep, most=MAX_TEXT)}{text[len(text) - keep // 3 :]}"
        if keep == 0 or len(msgspec.json.encode(made)) <= most:
            return made
        keep //= 2


def _without_data(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts without addresses whose data was replaced by its name."""
    return [
        {key: value for key, value in part.items() if key != "url" or not str(value).startswith("[data")}
        for part in parts
    ]
