"""What an agent was shown of its memory and has stored in a message again: it is not observed a second time.

An agent that keeps the prompt it sent, or what a tool told it of its memory, hands our own notes back to us. Observed
again they would double, and what was reflected away would come back as news. What is ours is known by the code in its
tag, which only this memory can have made for these very words, or by being one of the texts that never change, whole.
Looks count for nothing: whoever writes something like it is heard.
"""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from om_api.context.alternation import EARLIER
from om_api.context.signature import Signer
from om_api.context.stable import COMPOSED, CONTINUATION, PREAMBLE
from om_api.domain.messages import Message
from om_api.domain.values import ID_PATTERN, Scope
from om_api.patterns.pattern import Pattern
from om_workers.prompts.encoded import without_encrypted

NOTE = "[memory shown to the agent, not observed again]"
_CONSTANTS = (PREAMBLE, COMPOSED, CONTINUATION, EARLIER)
_NAMES = ("system-reminder", "observations", "reflection", "working-memory", "extracted")
_HINTS = (
    *(f"{name} id=" for name in _NAMES),
    PREAMBLE.split("\n")[0],
    COMPOSED.split("\n")[0],
    Pattern("<.*?>").sub("", EARLIER),  # JSON may spell its tags otherwise
)
_ANY = "|".join(_NAMES)
_FROM = f' from="{ID_PATTERN.pattern}"'
_TAG = Pattern(rf'<(?P<opens>{_ANY}) id="(?P<code>[0-9]{{12}})"(?P<about>(?:{_FROM})?)>\n|\n</(?P<closes>{_ANY})>')
_QUOTED = Pattern(r'"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\Z)')
_Span = tuple[int, int]
_Change = Callable[[str], str]


class Shown(NamedTuple):
    """What a memory has shown to the threads of its `scope`, as its `key` tells; without a key only what never changes."""

    key: str = ""
    scope: Scope | None = None

    def without(self, message: Message, note: str) -> Message:
        """The message with `note` in the place of what was shown to its thread; all else as it is, but what is encrypted."""
        whole = Signer.of_memory(self.key, self.scope) if self.scope else Signer()
        signers = whole, Signer.of_thread(self.key, message.thread_id)
        content = _changed(message.content, lambda text: _without(text, note, signers))
        return message if content == message.content else msgspec.structs.replace(message, content=content, tokens=None)


NOTHING_SHOWN = Shown()


def each_text(value: Any, change: _Change) -> Any:
    """A copy of a JSON value with every text in it changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: each_text(item, change) for key, item in value.items()}
    return value


def _changed(content: Any, change: _Change) -> Any:
    if isinstance(content, str):
        return change(content)
    try:
        return [{**part, **_fields(part, change)} for part in content]
    except RecursionError:  # a part that nests too deeply hurts only itself, and nobody reads it
        return content


def _fields(part: dict[str, Any], change: _Change) -> dict[str, Any]:
    if part["type"] == "text":
        return {"text": change(part["text"])}
    return {key: each_text(without_encrypted(part[key]), change) for key in ("args", "result") if key in part}


def _without(text: str, note: str, signers: tuple[Signer, ...]) -> str:
    """The text without what the signers made, also where JSON quotes it, and JSON within JSON; all else byte for byte."""
    if not any(hint in text for hint in _HINTS):
        return text
    pieces, at = [], 0
    for start, end in _joined(sorted(_spans(text, signers)), text):
        pieces += [text[at:start], note]
        at = end
    left = "".join([*pieces, text[at:]])
    return _QUOTED.sub(lambda found: _unquoted(found[0], note, signers), left) if "\\" in left else left


def _unquoted(quoted: str, note: str, signers: tuple[Signer, ...]) -> str:
    try:
        said = json.loads(quoted, strict=False) if "\\" in quoted else ""
        heard = _without(said, note, signers)
    except (ValueError, RecursionError):  # cut off, no JSON, or JSON in JSON deeper than anybody reads
        return quoted
    return quoted if heard == said else json.dumps(heard, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _spans(text: str, signers: tuple[Signer, ...]) -> Iterator[_Span]:
    """Where our blocks stand: nothing in one is a tag that could be taken for its end."""
    for constant in _CONSTANTS:
        at = text.find(constant)
        while at >= 0:
            yield at, at + len(constant)
            at = text.find(constant, at + len(constant))
    for opened, closed in pairwise(_TAG.finditer(text)):
        tag, body = opened["opens"], text[opened.end() : closed.start()]
        if (
            tag
            and tag == closed["closes"]
            and any(signer.made(tag + opened["about"], opened["code"], body) for signer in signers)
        ):
            yield opened.start(), closed.end()


def _joined(spans: list[_Span], text: str) -> Iterator[_Span]:
    """Spans that nothing but blanks lies between, as one."""
    if not spans:
        return
    (start, end), *others = spans
    for begins, ends in others:
        if text[end:begins].strip():
            yield start, end
            start = begins
        end = max(end, ends)
    yield start, end
