"""Lone surrogates: halves of characters, which no UTF-8 can hold. Each is replaced by U+FFFD, as browsers do.

They come from texts that were cut in the middle of an emoji (Java, JavaScript) and from bytes that were no UTF-8 (Python).
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_encoder = msgspec.json.Encoder()
# Every escape of JSON, so that a backslash that is itself escaped is skipped; a lone surrogate is in the group.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
    rb"|(\xed[\xa0-\xbf][\x80-\xbf])",
    re.DOTALL,
)


def whole_text(text: str) -> str:
    """A text whose lone surrogates are replaced; the same one if there are none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole_value(value: Any) -> Any:
    """The same for all texts in a JSON value; a value that cannot be JSON for another reason is returned unchanged."""
    try:
        _encoder.encode(value)
    except UnicodeEncodeError:
        return _replaced(value)
    except (TypeError, ValueError, RecursionError):
        return value
    return value


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {_replaced(name): _replaced(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(each) for each in value]
    return value


def whole_json(data: bytes) -> bytes:
    """JSON whose lone surrogates are replaced, whether written as escapes or as three bytes; it is not parsed."""
    return _ESCAPE.sub(_whole_escape, data)


def _whole_escape(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return rb"\ufffd"
    return "\ufffd".encode() if found[2] else found[0]


def decode_json(data: bytes, decode: Callable[[bytes], T] = msgspec.json.decode) -> T:
    """Read JSON with lone surrogates replaced; raises what `decode`, a decoder of msgspec, raises."""
    try:
        return decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        whole = whole_json(data)
        if whole == data:
            raise
        return decode(whole)
