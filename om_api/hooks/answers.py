"""What hooks answer, judged: which fields each point's hooks may change, and how. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.webhooks.hook import Given, Point
from om_api.domain.wire import encode_message
from om_api.hooks.faults import AnswerError

T = TypeVar("T")
LONGEST = 10_000_000  # bytes of an answer
MOST_ADDED = 8_000  # characters that one context's end may be given


class _HookedMessage(msgspec.Struct):
    id: str
    content: str | list[dict[str, Any]]


def merged(point: Point, given: Given, answer: bytes) -> Given:
    """What was given, with what an answer (JSON) changes of it; raises AnswerError for what cannot be used.

    null and {} change nothing, nor do fields that come back as they were.
    """
    try:
        said = msgspec.json.decode(answer, type=dict[str, Any] | None) or {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AnswerError("it is no JSON object; permitted: an object, or null") from None
    takes = _TAKES[point]
    if unknown := sorted(said.keys() - given.keys() - takes.keys()):
        raise AnswerError(f"it says {unknown[0][:80]!r}; permitted: {', '.join(takes)}")
    return given | {name: takes[name](given, said[name]) for name in takes if said.get(name) is not None}


def _text(_: Given, value: Any) -> str:
    return _of(str, value, "a text")


def _some_text(_: Given, value: Any) -> str:
    text = _of(str, value, "a text")
    if not text.strip():
        raise AnswerError("the text is empty: a reflection cannot say nothing")
    return text


def _added(given: Given, value: Any) -> str:
    before, own = given.get("add", ""), _of(str, value, "a text").strip()
    text = before if own == before else "\n".join(filter(None, [before, own]))
    if len(text) > MOST_ADDED:
        raise AnswerError(f"add has {len(text):,} characters; permitted: {MOST_ADDED:,} of all hooks together")
    return text


def _texts(given: Given, value: Any) -> list[str]:
    texts = _of(list[str], value, "a list of texts")
    if len(texts) != len(given["texts"]):
        raise AnswerError(f'{len(texts)} texts; permitted: {len(given["texts"])}, "" for one that is left out')
    if not any(text.strip() for text in texts):
        raise AnswerError("all texts are empty: nothing would be left to condense")
    return texts


def _sections(given: Given, value: Any) -> dict[str, str]:
    sections = _of(dict[str, str], value, "texts by their names")
    if more := sorted(sections.keys() - given["extracted"].keys()):
        raise AnswerError(f"extracted has {more[0][:80]!r}, which it was not given")
    return sections


def _messages(given: Given, value: Any) -> list[dict[str, Any]]:
    """Some of the messages, in their order; of each nothing but its content may be another."""
    heard, rest = _of(list[_HookedMessage], value, "a list of objects with id and content"), iter(given["messages"])
    return [_changed(_next(rest, each.id), each.content) for each in heard]


def _next(rest: Any, name: str) -> Mapping[str, Any]:
    found = next((each for each in rest if each["id"] == name), None)
    if found is None:
        raise AnswerError(f"message {name[:80]!r} was not given, or not there; permitted: those given, in their order")
    return dict(found)


def _changed(message: Mapping[str, Any], content: Any) -> dict[str, Any]:
    if content == message["content"]:
        return dict(message)
    try:
        encode_message(Message(role=message["role"], id=message["id"], content=content))
    except InvalidInputError as error:
        raise AnswerError(str(error)) from None
    return {**message, "content": content}


def _of(kind: type[T], value: Any, permitted: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise AnswerError(f"it answers with something else; permitted: {permitted}") from None


_Take = Callable[[Given, Any], Any]
_TAKES: dict[Point, dict[str, _Take]] = {
    "before_observe": {"messages": _messages},
    "after_observe": {"text": _text, "task": _text, "suggestion": _text, "extracted": _sections},
    "before_reflect": {"texts": _texts},
    "after_reflect": {"text": _some_text},
    "before_context": {"add": _added},
}
