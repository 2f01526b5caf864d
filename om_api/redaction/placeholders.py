"""What stands where something was redacted: `[email]`, or `[email 7f3a2c9b01]` where the value can be put back."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from om_api.patterns.pattern import Pattern

T = TypeVar("T")
KINDS = ("secret", "iban", "card", "email", "phone")  # in their order: what is found first stands, should two overlap
PLACEHOLDER = Pattern(rf"\[({'|'.join(KINDS)})( [0-9a-f]{{10}})?\]")
Words = Mapping[str, str]  # values by what stands for them, without its brackets


def placeholders(text: str) -> Iterator[str]:
    """Every placeholder that a text holds, without its brackets, in order."""
    return (each[0][1:-1] for each in PLACEHOLDER.finditer(text))


def put_back(text: str, words: Words, written: Callable[[str], str] = str) -> str:
    """The text with the values that are known, `written` so that they fit where they stand."""
    return PLACEHOLDER.sub(lambda each: written(words[name]) if (name := each[0][1:-1]) in words else each[0], text)


def put_back_in(value: T, words: Words) -> T:
    """The same of a value and all its texts: JSON, tuples and structs."""
    return _in(value, words)  # type: ignore[no-any-return]  # each kind stays what it is


def _in(value: Any, words: Words) -> Any:
    if isinstance(value, str):
        return put_back(value, words)
    if isinstance(value, dict):
        return {_in(key, words): _in(each, words) for key, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_in(each, words) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_in(each, words) for each in value)
    if isinstance(value, msgspec.Struct):
        made = {name: _in(getattr(value, name), words) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **made)
    return value
