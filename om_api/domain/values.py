"""What a memory is made of: plain values, their wire format and nothing that talks to anyone."""

import itertools
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard
from zoneinfo import ZoneInfo

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.timing.chance import chance

Timestamp: TypeAlias = str | int | float | datetime | None
ID_PATTERN = re.compile(r"[A-Za-z0-9._:@+-]{1,200}")
_SECOND, _MILLI, _MICRO = 1e11, 1e14, 1e17  # below each bound a number of that unit is a date between 1973 and 5138
_EARLIEST, _LATEST = 1e8, 1e20
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-9a-f]")


class Outcome(StrEnum):
    """The word a unit of work ends with."""

    REST = "rest"
    BUSY = "busy"
    SEALED = "sealed"
    BUFFERED = "buffered"
    SPLIT = "split"
    ACTIVATED = "activated"
    PROPOSED = "proposed"
    SENT_BACK = "sent_back"
    REFLECTED = "reflected"
    RESTORED = "restored"
    CLEARED = "cleared"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    FAILED = "failed"
    ADDED = "added"
    CORRECTED = "corrected"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    UPDATED = "updated"


def shown(value: object, most: int = 40) -> str:
    """The beginning of what somebody gave, for an error; Python writes no number of more than 4,300 digits."""
    try:
        return str(value)[:most]
    except ValueError:
        return "a number of thousands of digits"


def is_id(value: object) -> TypeGuard[str]:
    """Whether a value may name a key."""
    return isinstance(value, str) and ID_PATTERN.fullmatch(value) is not None and value not in {".", ".."}


def traceparent(said: object) -> str:
    """The name of a span, as W3C's header `traceparent` of version 00 has it; "" for anything else, which is no error there."""
    return said if isinstance(said, str) and _TRACEPARENT.fullmatch(said) else ""


def check_id(value: object, what: str) -> str:
    """Return an id that may name a key, or raise InvalidInputError naming `what` it was meant for."""
    if is_id(value):
        return value
    raise InvalidInputError(
        f"{what} {shown(value, 80)!r} is not an id: use 1 to 200 of A-Z a-z 0-9 . _ : @ + - (and not '.' or '..')"
    )


_MADE = re.compile(r"[0-9a-f]{32}")
_made = itertools.count(secrets.randbits(30))


def new_id(ms: int | None = None) -> str:
    """Return a new id that sorts by time, and by order of making within a millisecond of one process.

    12 hex digits of Unix ms, 8 of a counter, 12 random ones.
    """
    at = int(time.time() * 1000) if ms is None else ms
    return f"{at:012x}{next(_made) & 0xFFFFFFFF:08x}{chance.getrandbits(48):012x}"


def made_at(name: str) -> int | None:
    """When an id was made by `new_id`, in Unix ms of the clock of whoever made it; None for any other id."""
    return int(name[:12], 16) if _MADE.match(name) else None


def to_ms(value: object) -> int | None:
    """Read a time as Unix ms: ISO 8601, or a number in s, ms, µs or ns told apart by its size; None if it is no time."""
    if isinstance(value, str):
        try:
            return to_ms(float(value))
        except ValueError:
            return _iso_ms(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _EARLIEST <= value < _LATEST:
        return None
    if value < _SECOND:
        return round(value * 1000)
    if value < _MILLI:
        return round(value)
    return round(value / 1_000) if value < _MICRO else round(value / 1_000_000)


def _iso_ms(text: str) -> int | None:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def with_zone(timestamp: Timestamp, zone: str) -> Timestamp:
    """A time in ISO 8601 without a zone, with the offset of an IANA zone; any other time unchanged."""
    if not isinstance(timestamp, str) or timestamp.strip().replace(".", "", 1).isdecimal():
        return timestamp
    try:
        at = datetime.fromisoformat(timestamp.strip())
    except ValueError:
        return timestamp
    return timestamp if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone)).isoformat()


class Scope(NamedTuple):
    """What one memory record covers: a resource, or one thread of it."""

    resource: str
    thread: str | None = None

    def __str__(self) -> str:
        """Write the scope as the due indexes do: `harold`, or `harold|thread-1`."""
        return self.resource if self.thread is None else f"{self.resource}|{self.thread}"

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """Read what `str` wrote; raises InvalidInputError."""
        resource, bar, thread = text.partition("|")
        return cls(check_id(resource, "resource"), check_id(thread, "thread") if bar else None)

    @classmethod
    def is_one(cls, text: str) -> bool:
        """Whether `parse` reads a text."""
        try:
            cls.parse(text)
        except InvalidInputError:
            return False
        return True


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """Sealed messages and, once `ready`, the observation computed from them (its JSON in `observation`)."""

    id: str
    thread: str
    seq: float
    tokens: int
    messages: int
    ready: bool = False
    attempts: int = 0
    crashes: int = 0
    sealed_at: int = 0
    observation: bytes | None = None


class SealedChunk(msgspec.Struct, frozen=True):
    """What is told of a chunk: how many messages are observed together, their tokens, and how often a model was asked."""

    id: str
    thread_id: str
    messages: int
    tokens: int
    ready: bool
    attempts: int
    sealed_at: int

    @classmethod
    def of(cls, chunk: Chunk) -> "SealedChunk":
        """What is told of a chunk."""
        return cls(chunk.id, chunk.thread, chunk.messages, chunk.tokens, chunk.ready, chunk.attempts, chunk.sealed_at)


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an observation that somebody corrected: what it `was` and is `now` ("": taken out), and the text before."""

    was: str
    now: str
    text: str
    by: str = ""
    at: int = 0


@learned
class ExtractedValue(msgspec.Struct, frozen=True, kw_only=True):
    """What an extractor found: `at` is when the newest of it was said (Unix ms), `observation_id` beside which notes."""

    value: Any
    at: int = 0
    observation_id: str = ""


@learned
class SharedFrom(msgspec.Struct, frozen=True, kw_only=True):
    """Where a note was shared from: whose memory, and beside which observation, which was `made_at` (Unix ms)."""

    resource: str
    observation: str = ""
    made_at: int = 0


@learned
class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One Observer result for one thread: dated lines, covering named messages.

    `no_task` and `no_suggestion`: the Observer said that there is none, which an empty text alone does not say. `spoken_at`
    is when the Actor last spoke in what it covers (Unix ms), 0 if it did not. `activated_at` is when it came in force (server's
    Unix ms, as whoever activated it had read them), 0 where nobody noted that. `origin` is `added` for one that somebody
    wrote (`by` whom), which covers nothing, else "". `corrections` are the newest that were made of it, the last one newest.
    `extracted` is what extractors found in the same messages, by their slugs; those of them that are `common` are of the
    whole memory, and no thread's own. `group` names the group in which it was set aside, "" for one that never was. `shared_from`
    says where one of origin `shared` comes from, which covers nothing either. `marked` is how many of its lines only quote what
    somebody said (docs/trust.md); `untrusted`: nobody is trusted who says anything in what it covers. `traceparent` names the
    span that stored it, where workers trace. `wrapper_tokens` are those of its `tokens` that a context writes around its text,
    less than 0 where it shares a date line; 0 until it is in force.
    """

    id: str
    thread_id: str
    text: str
    activation: str = ""
    priority: int = 3
    task_state: str = ""
    suggested_response: str = ""
    no_task: bool = False
    no_suggestion: bool = False
    spoken_at: int = 0
    message_ids: tuple[str, ...] = ()
    source_range: tuple[str, ...] = ()
    from_: int = msgspec.field(default=0, name="from")
    to: int = 0
    tokens: int = 0
    message_tokens: int = 0
    model: str = ""
    cost: float | None = None
    created_at: int = 0
    activated_at: int = 0
    origin: str = ""
    by: str = ""
    corrections: tuple[Correction, ...] = ()
    extracted: dict[str, Any] = {}
    common: tuple[str, ...] = ()
    group: str = ""
    shared_from: SharedFrom | None = None
    marked: int = 0
    untrusted: bool = False
    wrapper_tokens: int = 0
    traceparent: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def text_tokens(self) -> int:
        """The tokens of its text."""
        return self.tokens - self.wrapper_tokens


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One usable answer that a reflection was chosen from; `loss` is None where it was not checked."""

    level: int
    tokens: int
    loss: float | None = None
    model: str = ""


class TextPiece(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a moved text that stay together: which generation they came from, their place in it, how many they are.

    `origin` is `<epoch>:<n>` of that generation; `thread` whose lines they are, "" where they are common to all threads
    but those that are `lacking`: they had words of their own, or came later, when the threads became one pool.
    """

    origin: str
    at: int
    lines: int
    thread: str = ""
    lacking: tuple[str, ...] = ()


@learned
class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """A numbered version of the reflected memory; the highest number is in force.

    `dropped_ids` names those of `observation_ids` of which nothing is left in the text, and what its owner removed since, which
    is not among `observation_ids` any more. `loss` (0 to 1) is what the check before the commit found missing, `candidates`
    the answers that were compared, in the order they came. `restores` names the generation that this one brought back, 0 for
    the time before the first. `origin` is `correction` where somebody (`by` whom) corrected a line of the one before, `archive`
    where observations were set aside in groups: `groups` is of how many of them the text tells. `pieces`
    are what the text is made of, in order, since a move to another scope; none once it was written anew. `extracted` is what
    extractors found beside all notes that it stands for, by thread ("": of the whole memory) and by slug. `traceparent` names
    the span that committed it, where workers trace.
    """

    n: int
    text: str
    origin: str = "reflection"
    created_at: int = 0
    tokens: int = 0
    input_tokens: int = 0
    observation_ids: tuple[str, ...] = ()
    dropped_ids: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    level: int = 0
    loss: float | None = None
    candidates: tuple[Candidate, ...] = ()
    restores: int | None = None
    pieces: tuple[TextPiece, ...] = ()
    model: str = ""
    cost: float | None = None
    by: str = ""
    extracted: dict[str, dict[str, ExtractedValue]] = {}
    groups: int = 0
    traceparent: str | msgspec.UnsetType = msgspec.UNSET


Stamped = Mapping[str, Sequence[Any]]  # by field: its value, and when (Unix ms) it was said
_NOTHING: Stamped = MappingProxyType({})


class KeptFields(NamedTuple):
    """What is kept of a working memory: its fields as they are, those that contexts show, and whose doing that is.

    `shown` is what stood when the memory was last activated before the last change.
    """

    version: int = 0
    value: Stamped = _NOTHING
    shown: Stamped = _NOTHING
    at: int = 0
    by: str = ""

    def stands(self, activated_at: int) -> Stamped:
        """What the stable part of a context shows: no change since the last activation (server ms); 0 = never."""
        return self.value if self.at <= activated_at else self.shown


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A scope's bookkeeping. `epoch` is '' while nothing was sealed; token totals are kept by tier.

    `shared_in` is when another memory shared something with it last.
    `pins` is JSON, as `domain.notes.pins` reads it; "" where nothing is pinned.
    `proposed` is the review of its draft, if one is there, since when and until when: see drafts.py.
    """

    schema: int = 1
    epoch: str = ""
    generation: int = 0
    seq: float = 0
    origin: str = "initial"
    chunk_tokens: int = 0
    observation_tokens: int = 0
    observation_count: int = 0
    reflection_tokens: int = 0
    observed_tokens: int = 0
    observed_messages: int = 0
    limits: str = ""
    drain: float = 0
    created_at: int = 0
    observed_at: int = 0
    reflected_at: int = 0
    pins: str = ""
    shared_in: int = 0
    proposed: str = ""
    proposed_at: int = 0
    proposed_until: int = 0


class Stored(NamedTuple):
    """An observation and its place: `seq` was drawn at activation, `member` is its JSON as Redis keeps it."""

    seq: float
    observation: Observation
    member: bytes


@learned
class CopiedFrom(msgspec.Struct, frozen=True, kw_only=True):
    """What a thread was copied from: the thread, of which resource, and its last message that the copy has."""

    resource_id: str
    thread_id: str
    message_id: str


MemoryMode = Literal["full", "off", "write_only", "read_only"]
LEAVES_MEMORY: frozenset[MemoryMode] = frozenset({"full", "write_only"})
READS_MEMORY: frozenset[MemoryMode] = frozenset({"full", "read_only"})


class ThreadState(msgspec.Struct, frozen=True, kw_only=True):
    """One thread of a resource: what is unsealed of it and what the Observer last said of its task.

    `current_task_at` and `current_task_from` are the time (Unix ms) and the id of the newest message it was noted from, 0
    and "" where nobody knows; likewise for the suggested response. An empty text with a time: it was noted that there is none.
    `title_by` is who gave it its title: `observer` where it was suggested, and gives way to the next suggestion. `archived_at`
    is 0 for one that is not archived, `last_observed_at` for one of which nothing was activated yet; `copied_from` is what a
    copy was made of. `model` is the Actor's, for which it is read since `model_at`, `model_before` the one before; "" where
    nobody named one. `memory` is its memory mode: whether it leaves memory, and whether its contexts read it. `place` is where it
    stands in the order of activity, to read on behind.
    """

    id: str
    tokens: int = 0
    messages: int = 0
    at: int = 0
    current_task: str = ""
    current_task_at: int = 0
    current_task_from: str = ""
    suggested_response: str = ""
    suggested_response_at: int = 0
    suggested_response_from: str = ""
    title: str = ""
    title_by: str = ""
    metadata: dict[str, Any] = {}
    archived_at: int = 0
    last_observed_at: int = 0
    copied_from: CopiedFrom | None = None
    model: str = ""
    model_before: str = ""
    model_at: int = 0
    memory: MemoryMode = "full"

    @property
    def leaves_memory(self) -> bool:
        """Whether its messages are observed, and found from other threads."""
        return self.memory in LEAVES_MEMORY

    @property
    def reads_memory(self) -> bool:
        """Whether its contexts hold what other threads and memories left."""
        return self.memory in READS_MEMORY

    @property
    def place(self) -> str:
        """Where it stands in the order of activity."""
        return f"{self.at}:{self.id}"
