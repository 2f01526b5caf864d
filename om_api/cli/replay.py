"""Recorded conversations, read from the formats they are usually kept in."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from om_api.cli.transcripts import ITEMS, Transcripts
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import TOO_LONG, Message
from om_api.domain.naming.ids import as_id
from om_api.domain.values import check_id, to_ms
from om_api.domain.wire import parse_member

_LISTS = ("messages", "contents", "input", "output")  # in a recording, and in what each vendor is asked and answers
_SAID = {"role", "content", "parts"}
_FIELDS = (("thread_id", "threadId"), ("resource_id", "resourceId"))


def read_messages(
    lines: Iterable[str], *, resource: str | None, thread: str | None, transcripts: Transcripts | None = None
) -> Iterator[Message]:
    """Read a recording message by message, in the order it was written.

    A line is a message, content or item in our wire format or as a vendor writes it, a list of such, or an object with a
    list of them in `messages` (or `contents`, `input`, `output`); a file may also be one such over many lines. `thread_id` and
    `resource_id` of a message win over those of the object around it, and those over the arguments. A message without
    an id stays without one: `sync` identifies it by its text. Lines of Claude Code's and Codex's transcripts are read as
    messages; `transcripts` counts those that are skipped.

    Raises InvalidInputError that names the line (and the place in its list) for whatever cannot be read.
    """
    defaults = {"thread_id": thread, "resource_id": resource}
    transcripts = transcripts or Transcripts(thread)
    for where, document in _documents(lines):
        message = transcripts.message(document)
        for place, fields in () if message is None else _flatten(where, message, defaults):
            try:
                yield _message(fields)
            except InvalidInputError as error:
                raise InvalidInputError(f"{place}: {error}") from None


def _documents(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    for number, line in numbered:
        try:
            yield f"line {number}", json.loads(line)
        except RecursionError:
            raise InvalidInputError(f"line {number}: nests too deeply") from None
        except json.JSONDecodeError as error:
            if not _goes_on(line, error):
                raise InvalidInputError(f"line {number}: not JSON: {error}") from None
            yield f"line {number}", _rest(number, line, numbered)
        except ValueError:
            raise InvalidInputError(f"line {number}: {TOO_LONG}") from None


def _goes_on(line: str, error: json.JSONDecodeError) -> bool:
    """Tell the first line of a document laid out over many from a damaged one."""
    return line.strip().startswith("[") or _ends(line, error)


def _ends(text: str, error: json.JSONDecodeError) -> bool:
    """Whether a text is JSON as far as it goes."""
    return not text[error.pos :].strip(" \t\r\n,")


def _rest(number: int, first: str, numbered: Iterable[tuple[int, str]]) -> Any:
    """Read a document to the end of the file."""
    numbers, texts = zip((number, first), *numbered, strict=True)
    document = "\n".join(text.rstrip("\r\n") for text in texts)
    try:
        return json.loads(document)
    except RecursionError:
        raise InvalidInputError(f"line {number}: nests too deeply") from None
    except json.JSONDecodeError as error:
        if _ends(document, error) or error.msg.startswith("Unterminated string"):
            where = f"line {numbers[-1]}: the file ends within what begins in line {number}"
            raise InvalidInputError(f"{where}: it was cut off, so get it whole, and replay it again") from None
        at = numbers[min(error.lineno, len(numbers)) - 1]
        raise InvalidInputError(f"line {at}: not JSON: {error.msg}") from None
    except ValueError:
        raise InvalidInputError(f"line {number}: {TOO_LONG}") from None


def _flatten(where: str, document: Any, around: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every message of a document its place and what the objects around it say."""
    if isinstance(document, list):
        for index, element in enumerate(document, 1):
            yield from _flatten(f"{where}, message {index}", element, around)
    elif not isinstance(document, dict):
        raise InvalidInputError(f"{where}: a message is a JSON object, not {str(document)[:40]!r}")
    else:
        around = around | _named(document)
        if (held := _held(document)) is not None:
            yield from _flatten(where, held, around)
        else:
            yield where, document | around


def _held(document: dict[str, Any]) -> list[Any] | None:
    """The messages in an object around them, whatever its vendor calls them; None in a message itself."""
    if document.get("role"):
        return None
    names = _LISTS if document.get("type") is None else _LISTS[:1]
    return next((document[name] for name in names if isinstance(document.get(name), list)), None)


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    both = {snake: fields.get(snake) or fields.get(camel) for snake, camel in _FIELDS}
    return {name: value for name, value in both.items() if value}


def _message(fields: dict[str, Any]) -> Message:
    """Read one message in either format. Raises InvalidInputError without its place."""
    if not (fields.keys() & _SAID or str(fields.get("type")).endswith(ITEMS)):
        names = ", ".join(name for name in fields if name not in {"thread_id", "resource_id"})[:80]
        raise InvalidInputError(f"a message needs one of role, content and parts; it has {names or 'nothing'}")
    thread, resource = (_id(fields, name) for name in ("thread_id", "resource_id"))
    written = fields.get("timestamp") or fields.get("createdAt")
    at = to_ms(written)
    if written is not None and at is None:
        raise InvalidInputError(f"timestamp {str(written)[:40]!r} is neither ISO 8601 nor Unix time")
    message = parse_member(json.dumps(fields).encode(), thread, resource, at or 0)
    if not fields.get("id"):
        message.id = ""
    return message


def _id(fields: dict[str, Any], name: str) -> str:
    if fields[name] is None:
        option = f"--{name.removesuffix('_id')}"
        raise InvalidInputError(f"{name} is missing: write it in the message, or say {option} for those that have none")
    return check_id(as_id(fields[name]), name)
