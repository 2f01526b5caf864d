"""Tools of the Actor as providers take them, and the arguments in a call of one as they write it."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import shown

ToolFormat = Literal["openai", "anthropic", "gemini"]


def tool_of(name: str, says: str, schema: Mapping[str, Any], format: str) -> dict[str, Any]:  # noqa: A002 - as the providers call it
    """A tool as a provider's list of tools takes it. Raises InvalidInputError for a provider that is none of ours."""
    own = msgspec.json.decode(msgspec.json.encode(schema))
    if format == "openai":
        return {"type": "function", "function": {"name": name, "description": says, "parameters": own}}
    if format == "anthropic":
        return {"name": name, "description": says, "input_schema": own}
    if format == "gemini":
        return {"function_declarations": [{"name": name, "description": says, "parameters": own}]}
    raise InvalidInputError(f"format is {shown(format)!r}: use {', '.join(get_args(ToolFormat))}")


def object_of(call: Any) -> dict[str, Any]:
    """The arguments in a call of OpenAI (chat or Responses), Anthropic or Gemini: a dict, JSON, or an SDK's object.

    Raises InvalidInputError where they are no object.
    """
    return _object(_arguments(call))


def _arguments(call: Any) -> Any:
    inner = [_field(call, name) for name in ("function", "function_call", "functionCall")]
    for holder in (*inner, call):
        for name in ("arguments", "input", "args"):
            if holder is not None and (found := _field(holder, name)) is not None:
                return found
    return call


def _field(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str | bytes):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise InvalidInputError("the arguments are not JSON") from None
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"the arguments are {type(value).__name__}: use an object")
    return dict(value)
