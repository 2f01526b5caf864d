"""Messages as they are given: described to OpenAPI and checked by it, in a large body message by message.

So no step of taking up a large body is long, and it is refused with the words of a small one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import ConfigDict, Field, ValidationError, WithJsonSchema

from om_api.client.syncing import Diverged
from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.message_size import check_metadata, check_parts
from om_api.domain.messages import MAX_TOKENS, TOO_LONG
from om_api.domain.nesting import MAX_DEPTH
from om_api.domain.requests.request_model import FirstFault, RequestModel
from om_api.domain.texts.surrogates import decode_json
from om_api.domain.values import ID_PATTERN, MemoryMode
from om_api.http.requests.content_parts import CONTENT
from om_api.http.serving.limits import MAX_BATCH, MAX_HISTORY, MAX_MESSAGE

_LONGEST = 6 * MAX_MESSAGE  # bytes of one message as it was sent: `\u003c` is kept as one
_PART = 16 * 1024  # bytes that are read at once
_LISTS = ("content", "parts", "tool_calls")  # fields of a message whose items become its parts
_KINDS: dict[bytes, Any] = {b"[": list[msgspec.Raw], b"{": dict[str, msgspec.Raw]}
Parts: TypeAlias = Annotated[list[dict[str, Any] | str], FirstFault()]


class GivenMessage(RequestModel):
    """One turn, as this memory writes it or as OpenAI, Anthropic or Gemini do; give it an id, and repeating adds nothing.

    Any other fields of theirs are kept: what takes part in a turn as part of it, the rest in `metadata`.
    """

    model_config = ConfigDict(extra="allow")

    id: str | None = Field(None, pattern=f"^{ID_PATTERN.pattern}$", description="yours; else one is made")
    role: Literal["user", "assistant", "system", "tool", "developer", "function", "model"] | None = Field(
        None, description="who speaks; an item of OpenAI's Responses API says it by its type"
    )
    content: Annotated[str | Parts | None, WithJsonSchema(CONTENT)] = Field(
        None, description="text, or parts: text, tool-call, tool-result, image, file, or those of a vendor"
    )
    timestamp: str | int | float | None = Field(None, description="ISO 8601 or Unix time; else now")
    tokens: int | None = Field(None, ge=0, le=MAX_TOKENS, description="how long it is; else it is counted")
    metadata: dict[str, Any] | None = None
    tool_calls: Annotated[list[dict[str, Any]], FirstFault()] | None = Field(
        None, description="as chat completions APIs write them"
    )
    tool_call_id: str | None = None
    name: str | None = None
    parts: Parts | None = Field(None, description="the content, as Gemini writes it")
    type: str | None = Field(None, description="what an item of OpenAI's Responses API is")


MODE = "the thread's memory mode: whether it leaves memory, and whether its contexts show it; left out, it stays"


class _Asked(RequestModel):
    replace: bool = Field(
        default=False, description="have what says something else take the place of what is still raw"
    )
    memory: MemoryMode | None = Field(None, description=MODE)


class GivenMessages(_Asked):
    """Messages of one thread, oldest first; all are added, or none."""

    messages: Annotated[list[GivenMessage], FirstFault()] = Field(min_length=1, max_length=MAX_BATCH)


class _AskedOfHistory(RequestModel):
    diverged: Diverged = Field(default="follow", description="what happens where the history replaces stored messages")
    memory: MemoryMode | None = Field(None, description=MODE)


class GivenHistory(_AskedOfHistory):
    """The whole history of one thread as its client holds it, oldest first; its beginning may be missing."""

    messages: Annotated[list[GivenMessage], FirstFault()] = Field(min_length=1, max_length=MAX_HISTORY)


Given: TypeAlias = GivenMessages | GivenHistory


@learned
class _Body(msgspec.Struct, forbid_unknown_fields=True):
    messages: list[msgspec.Raw]


@learned
class _HistoryBody(_Body):
    diverged: Any = "follow"
    memory: Any = None


@learned
class _PushBody(_Body):
    replace: Any = False
    memory: Any = None


def take(body: bytes, kind: type[Given] = GivenMessages) -> Given:
    """What a body says, which is to be of a kind; raises RequestValidationError."""
    form: type[_Body]
    form, most = (_PushBody, MAX_BATCH) if kind is GivenMessages else (_HistoryBody, MAX_HISTORY)
    try:
        found = decode_json(body, partial(msgspec.json.decode, type=form))
    except msgspec.ValidationError as error:
        raise invalid("value_error", (), f"{error}: send an object with the field messages, a list") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json((), error) from None
    if not 1 <= len(found.messages) <= most:
        what = f"List should have 1 to {most:,} items, not {len(found.messages):,}"
        raise invalid("too_long", ("messages",), what)
    given = {name: getattr(found, name) for name in form.__struct_fields__ if name != "messages"}
    with _placed():
        asked = (_Asked if kind is GivenMessages else _AskedOfHistory).model_validate(given)
    messages = [_message(n, bytes(raw)) for n, raw in enumerate(found.messages)]
    return kind.model_construct(messages=messages, **{name: getattr(asked, name) for name in given})


@contextmanager
def _placed(*where: str | int) -> Iterator[None]:
    """Raise what is wrong with a part of a body as what is wrong with the body."""
    try:
        yield
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("body", *where, *each["loc"])} for each in error.errors()]
        ) from None


def _message(number: int, raw: bytes) -> GivenMessage:
    where = ("messages", number)
    if len(raw) > _LONGEST:
        raise invalid("too_long", where, f"it takes {len(raw):,} bytes; permitted are {MAX_MESSAGE:,}: split it")
    try:
        fields = _read(raw, MAX_DEPTH)
    except msgspec.ValidationError as error:
        raise invalid("value_error", where, f"{TOO_LONG} ({error})") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json(where, error) from None
    except InvalidInputError as error:
        raise invalid("too_long", where, str(error)) from None
    with _placed(*where):
        return _checked(fields)


def _read(raw: bytes, depth: int, *, of_parts: bool = False) -> Any:
    """Decode JSON in small parts, but not what nests deeper than a message may: its levels are counted elsewhere.

    Raises InvalidInputError for a message of too many parts.
    """
    kind = _KINDS.get(raw[:1]) if len(raw) > _PART and depth else None
    if kind is None:
        return msgspec.json.decode(raw)
    found = msgspec.json.decode(raw, type=kind)
    if isinstance(found, list):
        if of_parts:
            check_parts(found)
        return [_read(bytes(each), depth - 1) for each in found]
    whole = depth == MAX_DEPTH
    if whole and (metadata := found.get("metadata")) is not None:
        check_metadata(bytes(metadata))
    named = _LISTS if whole else ()
    return {name: _read(bytes(each), depth - 1, of_parts=name in named) for name, each in found.items()}


def _checked(fields: Any) -> GivenMessage:
    """A message, of whose parts the model need not make copies all at once."""
    named = ("content", "parts") if isinstance(fields, dict) else ()
    lists = {name: fields[name] for name in named if _is_parts(fields.get(name))}
    if not lists:
        return GivenMessage.model_validate(fields)
    given = GivenMessage.model_validate({**fields, **{name: [] for name in lists}})
    for name, parts in lists.items():
        setattr(given, name, parts)
    return given


def _is_parts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def invalid(kind: str, where: tuple[str | int, ...], what: str) -> RequestValidationError:
    """The error of a body with a fault at a place."""
    return RequestValidationError([{"type": kind, "loc": ("body", *where), "msg": what, "input": None}])


def not_json(where: tuple[str | int, ...], error: Exception) -> RequestValidationError:
    """The error of a body that is not JSON at a place."""
    return RequestValidationError(
        [{"type": "json_invalid", "loc": ("body", *where), "msg": str(error), "ctx": {"error": str(error)}}]
    )
