"""What is found in text is replaced by placeholders: the same for the same value under one key, and counted."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Protocol

import msgspec

from om_api.domain.messages import Message
from om_api.patterns.pattern import Pattern
from om_api.redaction.found import Finder
from om_api.redaction.placeholders import PLACEHOLDER
from om_api.redaction.secrets import NAMED, is_password

# of a part of a message: what names or sorts it, and is no text; an id that is replaced leads nowhere
_NAMES = frozenset({"type", "id", "toolCallId", "tool_call_id", "toolName", "mediaType", "media_type", "mimeType"})
_OF_MESSAGES = frozenset(
    ("id", "role", "thread_id", "threadId", "resource_id", "resourceId", "timestamp", "createdAt", "tokens")
)
_LEAST_CARD = 10**12
_PROVIDERS = ("encrypted", "thoughtsignature")  # data that only their provider can read
# of anything: which call an answer is of
_CALLS = frozenset({"toolCallId", "tool_call_id", "call_id", "callId", "tool_use_id", "toolUseId"})
_TYPED = frozenset({"mediaType", "media_type", "mimeType", "mime_type", "mime"})
_MOST_LEVELS = 4  # of JSON in texts of JSON that are read; each of them is gone through once more
_ENCODED = Pattern(r"[A-Za-z0-9+/_-]{16,}={0,2}")


class Redactions(msgspec.Struct):
    """What was replaced: how often, by kind; and by placeholder what its value is, encrypted."""

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    sealed: dict[str, bytes] = msgspec.field(default_factory=dict)
    levels: int = 0  # of JSON in texts that are being read

    def __bool__(self) -> bool:
        """Whether anything was."""
        return bool(self.counts)


class Sealing(Protocol):
    """Names values, and encrypts them."""

    def name(self, kind: str, value: str) -> str:
        """What a value is called."""

    def seal(self, name: str, value: str) -> bytes:
        """A value, encrypted."""

    def open(self, name: str, sealed: bytes) -> str | None:
        """The value again; None for what another key sealed."""


class Redactor:
    """Replaces what `find` finds; `secrets` by the names of fields too. With a `vault` each value has a name of its own."""

    def __init__(self, find: Finder, *, secrets: bool = True, vault: Sealing | None = None) -> None:
        self._find, self._secrets, self.vault = find, secrets, vault

    def text(self, text: str, told: Redactions) -> str:
        """The text with placeholders; what they stand for is added to `told`."""
        found = self._find(text)
        if not found:
            return text
        parts, done = list[str](), 0
        for each in found:
            parts += [text[done : each.start], self._placeholder(each.kind, text[each.start : each.end], told)]
            done = each.end
        return "".join((*parts, text[done:]))

    def _placeholder(self, kind: str, value: str, told: Redactions) -> str:
        told.counts[kind] += 1
        if self.vault is None:
            return f"[{kind}]"
        name = self.vault.name(kind, value)
        told.sealed[name] = self.vault.seal(name, value)
        return f"[{name}]"

    def value(self, value: Any, told: Redactions, name: str = "") -> Any:
        """A JSON value, whose texts are redacted, names of fields too; what stands under the name of a secret is one."""
        if isinstance(value, str):
            return self._named(value, told, name)
        if isinstance(value, Mapping | list | tuple):
            return self._within(value, told, name)
        if type(value) is int and self._secrets and is_password(name):
            return self._placeholder("secret", str(value), told)
        if type(value) is int and value >= _LEAST_CARD:  # the number of a card that nobody quoted
            said = str(value)
            return value if (made := self.text(said, told)) == said else made
        return value

    def _within(self, value: Any, told: Redactions, name: str) -> Any:
        """An object or a list; what nests too deeply to be gone through is read as the text that it is written as."""
        try:
            if isinstance(value, Mapping):
                return self._fields(value, told)
            return [self.value(each, told, name) for each in value]
        except RecursionError:
            written = msgspec.json.encode(value, enc_hook=str).decode()
            return value if (made := self.text(written, told)) == written else made

    def _fields(self, value: Mapping[Any, Any], told: Redactions) -> dict[Any, Any]:
        """An object; of two names that one placeholder stands for, the later one is numbered."""
        made, numbers = dict[Any, Any](), Counter[Any]()
        for key, each in value.items():
            name = said = self.value(key, told)
            while name in made or (name != key and name in value):
                numbers[said] += 1
                name = f"{said} ({numbers[said] + 1})"
            made[name] = each if _is_data(key, each, value) else self._of_field(key, each, told)
        return made

    def _of_field(self, key: object, value: Any, told: Redactions) -> Any:
        name = str(key)
        if name.replace("_", "").lower().startswith(_PROVIDERS) and isinstance(value, str) and " " not in value:
            return value
        return self.value(value, told, name)

    def _named(self, text: str, told: Redactions, name: str) -> str:
        if not (self._secrets and NAMED.fullmatch(name) and text.strip()):
            return self._said(text, told)
        return text if PLACEHOLDER.fullmatch(text) else self._placeholder("secret", text, told)

    def _said(self, text: str, told: Redactions) -> str:
        """A text of a message; one that is JSON, as results of tools are, by the names of its fields too.

        JSON in texts of JSON is read so to four levels: a quote gets longer with each, and reading them all took squared time.
        """
        may_be_json = told.levels < _MOST_LEVELS and text.lstrip()[:1] in {"{", "["}
        if may_be_json and (value := _written(text)) is not None:
            before = told.counts.total()
            told.levels += 1
            try:
                cleaned = self.value(value, told)
            finally:
                told.levels -= 1
            text = text if told.counts.total() == before else msgspec.json.encode(cleaned).decode()
        return self.text(text, told)

    def json(self, text: bytes, told: Redactions) -> bytes:
        """The same of JSON that is written, or of any text; byte for byte what it was where nothing is found."""
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.text(text.decode("utf-8", "surrogateescape"), told).encode("utf-8", "surrogateescape")
        before = told.counts.total()
        cleaned = self.value(value, told)
        return text if told.counts.total() == before else msgspec.json.encode(cleaned)

    def record(self, text: bytes, names: Collection[str], told: Redactions) -> bytes:
        """The same of what the store keeps: at its top, what stands under one of `names` is no text."""
        fields = _object(text)
        if fields is None:
            return self.json(text, told)
        before = told.counts.total()
        made = {name: each if name in names else self._of_field(name, each, told) for name, each in fields.items()}
        return text if told.counts.total() == before else msgspec.json.encode(made)

    def member(self, text: bytes, told: Redactions) -> bytes:
        """The same of a message as anybody wrote it into the store; its tokens stay what they were counted."""
        fields = _object(text)
        if fields is None or not isinstance(fields.get("content"), str | list):
            return self.json(text, told)
        before = told.counts.total()
        made = {
            name: each
            if name in _OF_MESSAGES
            else self._content(each, told)
            if name == "content"
            else self.value(each, told)
            for name, each in fields.items()
        }
        return text if told.counts.total() == before else msgspec.json.encode(made)

    def message(self, message: Message, told: Redactions) -> Message:
        """A message whose content, metadata and name are redacted; the same one where nothing is found."""
        before = told.counts.total()
        content = self._content(message.content, told)
        metadata = None if message.metadata is None else self.value(message.metadata, told)
        name = None if message.name is None else self.text(message.name, told)
        if told.counts.total() == before:
            return message
        return msgspec.structs.replace(message, content=content, metadata=metadata, name=name)

    def _content(self, content: Any, told: Redactions) -> Any:
        return self._said(content, told) if isinstance(content, str) else [self._part(part, told) for part in content]

    def _part(self, part: Any, told: Redactions) -> Any:
        if not isinstance(part, Mapping):
            return self.value(part, told)
        return {
            name: each if name in _NAMES or _is_data(name, each, part) else self._of_field(name, each, told)
            for name, each in part.items()
        }


def _written(text: str | bytes) -> Any:
    """The JSON value that a text is; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _is_data(name: object, value: Any, beside: Mapping[Any, Any]) -> bool:
    """Whether a field is no text: which call it is of, the bytes of a file, or what signs a thought."""
    if not isinstance(value, str) or "@" in value or " " in value:
        return False
    kind = str(beside.get("type", ""))
    is_file = name == "data" and (not _TYPED.isdisjoint(beside) or kind in {"image", "file", "audio", "base64"})
    is_signature = name == "signature" and ("think" in kind or "reason" in kind or "thought" in kind)
    return name in _CALLS or ((is_file or is_signature) and bool(_ENCODED.fullmatch(value)))


def _object(text: bytes) -> dict[str, Any] | None:
    found = _written(text)
    return found if isinstance(found, dict) else None
