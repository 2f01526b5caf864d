"""What the parts of a message say, and who says it."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from om_api.domain.folding import LONGEST_NAME, in_brackets, one_line, placeholder
from om_api.domain.tool_calls import call_id
from om_api.domain.vendors.ours import THOUGHTS
from om_api.patterns.pattern import Pattern
from om_workers.prompts.encoded import without_encoded, without_encrypted
from om_workers.prompts.recalled import each_text

_LABELS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_MOST_TOKENS = 10_000  # of one tool result
_LONGEST_TOKEN = 16  # characters; what is longer than that many a token cannot fit, and is not searched
_BLANK = Pattern(r"\s")
_PLAIN = Pattern(r"[\w.:/@+-]+")
_TEXT = {"type", "text"}
_OF_TOOLS = {"tool-call", "tool-result"}
# an item that says more is written as JSON
_ATTACHED = {"type", "url", "name", "filename", "mime", "mimeType", "data", "detail", "file_id"}
_SHOWN = {"text": _TEXT, "image": _ATTACHED, "file": _ATTACHED}
_DENIED = "execution-denied"  # the type of result by which agents' frameworks say that a person refused a call


class Attachments:
    """Numbers images and files, each kind by itself, in the order they are shown."""

    def __init__(self) -> None:
        self._numbers = {"Image": 0, "File": 0}

    def placeholder(self, part: Mapping[str, Any]) -> str:
        """Return `[Image #1: label]` or `[File #1: label]`; without a label only the number."""
        kind = "Image" if part["type"] == "image" else "File"
        self._numbers[kind] += 1
        label = _label(part)
        return f"[{kind} #{self._numbers[kind]}{label and ': '}{label}]"


def _label(part: Mapping[str, Any]) -> str:
    """The attachment's name, else the last part of its URL's path, else its MIME type."""
    url = str(part.get("url") or "")
    said = part.get("name") or part.get("filename") or _basename(url) or part.get("mime") or _mime(url)
    return in_brackets(said)


def _basename(url: str) -> str:
    if url[:5].lower() == "data:":
        return ""
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    except ValueError:  # such as a broken IPv6 address
        return ""


def _mime(url: str) -> str:
    return url[5 : 5 + LONGEST_NAME].partition(",")[0].partition(";")[0] if url[:5].lower() == "data:" else ""


class Utterance(NamedTuple):
    """Who says something, and what; the text may run over several lines."""

    label: str
    text: str


class Parts:
    """The parts of one transcript: tool calls are remembered across its messages, attachments numbered by the call."""

    def __init__(self, count: Callable[[str], int], attachments: Attachments) -> None:
        self._count = count
        self._attachments = attachments
        self._seen: set[tuple[str, str, str]] = set()
        self._names: dict[str, str] = {}  # of the tools that were called, by the id of the call

    def said(self, role: str, part: Mapping[str, Any], speaker: str = "") -> Iterator[Utterance]:
        """Yield what a part says; nothing for an empty text, a thought, or a call or outcome that said the same before.

        A `speaker` is named instead of the role.
        """
        kind, label = part["type"], speaker or _LABELS[role]
        if kind == "text":
            yield from self._text(label, str(part.get("text", "")), capped=role == "tool")
        elif kind in _SHOWN:
            yield Utterance(label, self._attachments.placeholder(part))
        elif kind not in _OF_TOOLS:
            yield from () if kind in THOUGHTS else [Utterance(label, placeholder(part))]
        elif self._is_new(kind, part):
            yield self._call(part) if kind == "tool-call" else self._outcome(part)

    def _text(self, label: str, text: str, *, capped: bool) -> Iterator[Utterance]:
        """All of it is its speaker's: a reminder in tags may have been written by anybody."""
        said = without_encoded(text)
        said = (self._capped(said) if capped else said).strip()
        if said:
            yield Utterance(label, said)

    def _is_new(self, kind: str, part: Mapping[str, Any]) -> bool:
        """Agents repeat calls and outcomes as they were; another one under an id used before is another one."""
        key = (kind, str(part.get("tool_call_id") or ""), _digest(part))
        if key in self._seen:
            return False
        if key[1]:
            self._seen.add(key)
        return True

    def _call(self, part: Mapping[str, Any]) -> Utterance:
        args = part.get("args")
        self._names[call_id(part)] = str(part.get("name") or "")
        shown = "" if args is None else _written(args)
        return Utterance(f"Tool Call {_name(part)}", shown.strip() or "[arguments unavailable]")

    def _outcome(self, part: Mapping[str, Any]) -> Utterance:
        failed, result = part.get("is_error") is True, part.get("result")
        name = _name({"name": part.get("name") or (call_id(part) and self._names.get(call_id(part)))})
        if isinstance(result, dict) and result.get("type") == _DENIED and result.keys() <= {"type", "reason"}:
            return Utterance(f"Tool Denied {name}", str(result.get("reason") or "").strip() or "no reason given")
        shown = "" if result is None else self._capped(self._result(result).strip())
        empty = "Tool execution failed" if failed else "[empty result]"
        return Utterance(f"Tool {'Error' if failed else 'Result'} {name}", shown or empty)

    def _result(self, result: Any) -> str:
        """A result made of text and media shows its text and names its media; any other is written as JSON."""
        if not isinstance(result, list) or not result or not all(map(_is_shown, result)):
            return _written(result)
        return "\n".join(
            _written(str(part.get("text", ""))) if part["type"] == "text" else self._attachments.placeholder(part)
            for part in result
        )

    def _capped(self, text: str) -> str:
        """The beginning of a text, of at most 10,000 tokens, and how many are missing."""
        total = self._count(text)
        if total <= _MOST_TOKENS:
            return text
        room = _MOST_TOKENS - self._count(_cut(total))
        low, high = 0, min(len(text), _MOST_TOKENS * _LONGEST_TOKEN)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._count(text[:middle]) <= room else (low, middle - 1)
        return text[:low] + _cut(total - self._count(text[:low]))


def _cut(tokens: int) -> str:
    return f"... [truncated ~{tokens} tokens]"


def _name(part: Mapping[str, Any]) -> str:
    """A tool's name as a head shows it; one that could go on like a head stands in quotes."""
    name = one_line(part.get("name") or "") or "unnamed"
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', "'") + '"'


def _digest(part: Mapping[str, Any]) -> str:
    try:
        said = msgspec.json.encode([part.get(key) for key in ("name", "args", "result", "is_error")], enc_hook=str)
    except (RecursionError, TypeError, ValueError):  # it cannot be shown either
        return ""
    return sha256(said).hexdigest()


def _is_shown(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    return part.keys() <= _SHOWN.get(part["type"], set()) and not _BLANK.search(str(part.get("data") or ""))


def _written(value: Any) -> str:
    """Text as it is, anything else as JSON; without what nobody can read."""
    if isinstance(value, str):
        return without_encoded(value)
    try:
        return msgspec.json.encode(each_text(without_encrypted(value), without_encoded), enc_hook=str).decode()
    except (RecursionError, TypeError, ValueError):  # a part that cannot be written hurts only itself
        return "[cannot be shown]"
