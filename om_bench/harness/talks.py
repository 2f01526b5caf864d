"""Talks: recorded conversations with questions about them, whatever format they were published in."""

import json
from pathlib import Path
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message

RESOURCE = "bench"


class TalkQuestion(msgspec.Struct, frozen=True):
    """A question with its answer and the ids of the messages that hold it; `kind` is its publisher's word.

    `asked_at` is in Unix ms, 0 where the format does not say; `rubric` is what an answer should hold, where it says that.
    One that is to be `declined` asks for what was never said.
    """

    text: str
    answer: str
    evidence: tuple[str, ...]
    kind: str = ""
    asked_at: int = 0
    rubric: tuple[str, ...] = ()
    declined: bool = False


class Talk(msgspec.Struct, frozen=True):
    """One conversation, oldest message first. `people` are names that are in every line, so that they tell nothing.

    `unproven` are questions whose evidence nobody names, or that are to be declined: only a reader can be judged by them.
    `publisher` is whose format it came in, "" of our own.
    """

    name: str
    messages: tuple[Message, ...]
    questions: tuple[TalkQuestion, ...]
    people: tuple[str, ...] = ()
    unproven: tuple[TalkQuestion, ...] = ()
    publisher: str = ""


def turn(name: str, role: str, content: Any, at: int, thread: str) -> Message:
    """A message of a talk, at Unix ms."""
    return Message(id=name, role=role, content=content, at=at, timestamp=at, thread_id=thread, resource_id=RESOURCE)


def seen(message: Message) -> str:
    """All that a reader sees of a message: its text, what its calls of tools ask and their results say, a field a line."""
    return "\n".join(filter(None, map(_seen, message.parts)))


def _seen(part: dict[str, Any]) -> str:
    if part["type"] == "tool-call":
        return _flat({part.get("name") or "": part.get("args")})
    return _flat(part.get("result")) if part["type"] == "tool-result" else str(part.get("text", ""))


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "\n".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)


def read_text(path: Path) -> str:
    """A file's text; raises InvalidInputError that names the file when there is none to be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}: name a file that can be read") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: not UTF-8: {error}") from None


def read_json(path: Path) -> Any:
    """A file's JSON; raises InvalidInputError that names the file when there is none to be read."""
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise InvalidInputError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise InvalidInputError(f"{path}: nests too deeply") from None
