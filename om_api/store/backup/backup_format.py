"""The lines of a memory in a file, see docs/backup.md: what each of them holds, written and read. Knows no store."""

import base64
import binascii
from typing import TypeAlias

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.texts.surrogates import decode_json
from om_api.domain.values import MemoryMode

FORMAT = 1


class Encoded(msgspec.Struct, frozen=True):
    """Bytes that are no UTF-8."""

    base64: str


Text: TypeAlias = str | Encoded


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What all lines are: an object that says its kind. Fields that we do not know are left alone."""


class MemoryLine(_Line, tag="memory"):
    """The first line: what follows, of whom, as of when (Unix ms of the server). `scope` is null while nothing was sealed.

    `signing_key` is what its contexts are signed with, so that they stay the same byte for byte.
    """

    format: int
    resource: str
    scope: str | None
    exported_at: int
    paused: bool = False
    signing_key: str = ""


class RecordLine(_Line, tag="record"):
    """A memory's bookkeeping; `memory` is null, or in thread scope the thread that the memory is of."""

    memory: str | None
    fields: dict[str, Text]


class ThreadLine(_Line, tag="thread"):
    """A thread: when it was last heard of (null: no worker met it), how many unsealed messages and tokens are counted.

    `retracted` are the marks of messages that its conversation no longer has, in hex; `memory` is its memory mode.
    """

    thread: str
    at: float | None
    messages: int
    tokens: int
    fields: dict[str, Text]
    retracted: str = ""
    memory: MemoryMode = "full"


class AliasLine(_Line, tag="alias"):
    """A name that stands for a thread."""

    alias: str
    thread: str


class GenerationLine(_Line, tag="generation"):
    """A generation of a memory, as Redis keeps it."""

    memory: str | None
    n: int
    generation: Text


class ObservationLine(_Line, tag="observation"):
    """An observation, as Redis keeps it: in force, or replaced by a generation and kept until `expires_at`, None: for good."""

    memory: str | None
    seq: float
    observation: Text
    replaced_by: int | None = None
    expires_at: int | None = None


class ChunkLine(_Line, tag="chunk"):
    """A chunk that is not yet activated; the messages it covers follow."""

    memory: str | None
    chunk: str
    fields: dict[str, Text]


class SourceLine(_Line, tag="source"):
    """That the messages behind an observation follow, kept until `expires_at`; both times in Unix ms."""

    observation: str
    thread: str
    activated_at: int
    expires_at: int


class MessageLine(_Line, tag="message"):
    """A message: raw in `thread`, sealed in `chunk`, or behind `observation`; exactly one of them is there."""

    score: float
    message: Text
    thread: str | None = None
    chunk: str | None = None
    observation: str | None = None


class RejectedLine(_Line, tag="rejected"):
    """An entry of the quarantine, oldest first."""

    entry: Text


class WorkingLine(_Line, tag="working"):
    """Working memories of a resource, or a part of them, as Redis keeps them: by field."""

    fields: dict[str, Text]


class RedactedLine(_Line, tag="redacted"):
    """Encrypted values of placeholders, or a part of them; the key is in no file."""

    fields: dict[str, Text]


class SeenLine(_Line, tag="seen"):
    """What files of older versions say of ids; a message that arrives says its own."""

    thread: str
    window: int
    ids: list[Text]


class End(_Line, tag="end"):
    """The last line: how many are before it, and the SHA-256 of their bytes, each with its newline."""

    lines: int
    sha256: str


Line: TypeAlias = (
    MemoryLine
    | RecordLine
    | ThreadLine
    | AliasLine
    | GenerationLine
    | ObservationLine
    | ChunkLine
    | SourceLine
    | MessageLine
    | RejectedLine
    | WorkingLine
    | RedactedLine
    | SeenLine
    | End
)


_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def write(line: Line) -> bytes:
    """A line as it stands in the file, without its newline."""
    return msgspec.json.encode(line)


def read(text: bytes) -> Line:
    """The line that a text is; raises InvalidInputError for anything else."""
    try:
        return decode_json(text, _decoder.decode)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"this is no line of an exported memory: {str(error)[:200]}") from None


def as_text(value: bytes) -> Text:
    """Bytes as a line holds them."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Encoded(base64.b64encode(value).decode())


def as_bytes(text: Text) -> bytes:
    """The bytes that a line holds; raises InvalidInputError."""
    try:
        return text.encode() if isinstance(text, str) else base64.b64decode(text.base64, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise InvalidInputError("its base64 is none, or it holds half of a character") from None
