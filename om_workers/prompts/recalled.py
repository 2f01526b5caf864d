"""What an agent was shown of its memory and has stored in a message again: it is not observed a second time.

An agent that keeps the prompt it sent, or what a tool told it of its memory, hands our own notes back to us. Observed
again they would double, and what was reflected away would come back as news. Who merely talks of such tags is heard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from om_api.context.speeches import EARLIER
from om_api.context.stable import PREAMBLE
from om_workers.prompts.encoded import without_encrypted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from om_api.values import Message

NOTE = "[memory shown to the agent, not observed again]"
_HINTS = ("<observations>", "<reflection>", "<unobserved-context ", "<system-reminder", "# What you remember")
_PREAMBLE = re.compile(r"\s+".join(map(re.escape, PREAMBLE.split())))
_TAG = re.compile(
    r'^[ \t]*(?:<(?P<opens>observations|reflection)>|<(?P<named>unobserved-context) thread="[^"<>\n]{1,200}">'
    r"|</(?P<closes>observations|reflection|unobserved-context)>)[ \t]*$",
    re.MULTILINE,
)
_REMINDER = re.compile(
    rf'{re.escape(EARLIER)}|<system-reminder(?:[ ]id="om-continuation">|>\s*Today is \w+, \w+ \d{{1,2}}, \d{{4}} \()'
)
_REMINDER_ENDS = "</system-reminder>"
_NOTED = re.compile(r'^[ \t]*(?:Date:[ \t]|(?:[-*•][ \t]+)?(?:🔴|✅|🟡|🟢)|<thread id="|</thread>)', re.MULTILINE)
_NOTE_LINES = re.compile(r"(?:\n[ \t]*(?:Date:[ \t]|(?:[-*•][ \t]+)?(?:🔴|✅|🟡|🟢)|[*-][ \t]|</?thread\b)[^\n]*)+")
_REMINDERS = re.compile(
    r"^[ \t]*<system-reminder\b(?:[^<>\n]*>)?(.*?)(?:</system-reminder[ \t]*>|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_Span = tuple[int, int]


def without_memory(text: str, note: str = NOTE) -> str:
    """Return the text with `note` in the place of what stems from a context of ours; JSON is looked into.

    That is our preamble and our reminders; blocks of notes (opened and closed by tags on lines of their own, and holding
    at least one dated or marked line, or standing behind our preamble); excerpts of other threads; and of a block that
    was cut off the lines that are notes.
    """
    if not any(hint in text for hint in _HINTS):
        return text
    if text.lstrip()[:1] in {"{", "["} and (inside := _json(text, note)) is not None:
        return inside
    pieces, at = [], 0
    for start, end in _joined(sorted(_spans(text)), text):
        pieces += [text[at:start].rstrip(" \t"), note]
        at = end
    return "".join([*pieces, text[at:]])


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a JSON value with every text in it changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: each_text(item, change) for key, item in value.items()}
    return value


def apart(text: str) -> list[str]:
    """The text cut at system reminders: what is said, a reminder, what is said, and so on in turn."""
    return _REMINDERS.split(text)


def heard(message: Message) -> Message:
    """The message as somebody hears it who reads values: without our memory, and without reminders but a tool's."""
    content = _heard(message.content, message.role)
    return message if content == message.content else msgspec.structs.replace(message, content=content, tokens=None)


def _heard(content: Any, role: str) -> Any:
    try:
        if isinstance(content, str):
            return _said(content, role)
        return [{**part, **_fields(part, role)} for part in content]
    except RecursionError:  # a part that nests too deeply hurts only itself, and nobody reads it
        return content


def _fields(part: dict[str, Any], role: str) -> dict[str, Any]:
    if part["type"] == "text":
        return {"text": _said(part["text"], role)}
    told = {key: part[key] for key in ("args", "result") if key in part}
    return {
        key: each_text(without_encrypted(value), lambda text: without_memory(text, "")) for key, value in told.items()
    }


def _said(text: str, role: str) -> str:
    text = without_memory(text, "")
    return text if role == "tool" or "<" not in text else "".join(apart(text)[::2])


def _json(text: str, note: str) -> str | None:
    try:
        value = msgspec.json.decode(text)
        return msgspec.json.encode(each_text(value, lambda inner: without_memory(inner, note))).decode()
    except (msgspec.DecodeError, RecursionError):
        return None


def _spans(text: str) -> Iterator[_Span]:
    ours = [found.span() for found in _PREAMBLE.finditer(text)]
    yield from ours
    yield from _reminders(text)
    yield from _blocks(text, certain=bool(ours))


def _reminders(text: str) -> Iterator[_Span]:
    """Our reminders; one that was cut off goes on to the end."""
    at = 0
    while found := _REMINDER.search(text, at):
        end = text.find(_REMINDER_ENDS, found.start())
        at = len(text) if end < 0 else end + len(_REMINDER_ENDS)
        yield found.start(), at


def _blocks(text: str, *, certain: bool) -> Iterator[_Span]:
    """A closing tag belongs to the last opening one before it: what stands before that was not ours to close."""
    opened: re.Match[str] | None = None
    for tag in [*_TAG.finditer(text), None]:
        if tag and opened and tag["closes"] == (opened["opens"] or opened["named"]):
            if certain or opened["named"] or _NOTED.search(text, opened.end(), tag.start()):
                yield opened.start(), tag.end()
            opened = None
        elif opened and (notes := _NOTE_LINES.match(text, opened.end(), tag.start() if tag else len(text))):
            yield opened.start(), notes.end()
        if not tag or not tag["closes"]:
            opened = tag


def _joined(spans: list[_Span], text: str) -> Iterator[_Span]:
    """Spans that overlap, or that nothing but blanks lies between, as one."""
    if not spans:
        return
    start, end = spans[0]
    for following in spans[1:]:
        if following[0] > end and text[end : following[0]].strip():
            yield start, end
            start, end = following
        end = max(end, following[1])
    yield start, end
