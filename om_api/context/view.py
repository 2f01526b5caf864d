"""What is seen of a memory: a context's pieces, and how much of it a reader wants, in which time zone."""

import hashlib
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.folding import folded
from om_api.domain.kept.working_memory import WorkingForm

_LAST_MS = 250_000_000_000_000  # in the year 9892: a score of a broken clock must not stop a read
Kind = Literal["preamble", "reflection", "observations", "kept", "continuation", "day", "message", "volatile"]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a context, escaped and ready to be read.

    `stable` blocks are byte-identical until the memory itself changes, which is what prompt caches live on. `tokens` is
    what the workers or the message's writer counted where they did, else a count of `text`. `resource_id` says whose notes it
    is made of, where they are another memory's.
    """

    kind: Kind
    role: str
    text: str
    stable: bool
    tokens: int
    resource_id: str = ""

    @property
    def hash(self) -> str:
        """The first 16 hex digits of the text's SHA-256, made when asked for."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def plain(self) -> str:
        """The text as a transcript shows it: a message is preceded by its role, and its further lines stand behind a tab."""
        return f"{self.role}: {folded(self.text)}" if self.kind == "message" else self.text


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a context is cut to; budgets are in tokens.

    `timezone` (IANA) decides today's date. `excerpt_tokens` bounds each other thread's excerpt, `others_tokens` all of
    them together, `context_max_tokens` the whole context, `raw_max_tokens` the thread's own raw messages where nothing
    bounds the whole, `tool_tokens` each result of a tool among them; None bounds nothing. `recalled_tokens` bounds what is
    looked up for the newest message, 0 looks nothing up. `working` is the form of the working memory that is shown (None:
    none is), `extracted` names the extractors whose values are. Raises InvalidInputError for a zone nobody knows.
    """

    timezone: str = "UTC"
    excerpt_tokens: int = 200
    others_tokens: int = 2000
    context_max_tokens: int | None = None
    raw_max_tokens: int | None = None
    recalled_tokens: int = 1000
    tool_tokens: int | None = 20_000
    working: WorkingForm | None = None
    extracted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a zone now, so that building a context cannot fail on it."""
        try:
            ZoneInfo(self.timezone)
        except (LookupError, ValueError, OSError):
            raise InvalidInputError(f"timezone {self.timezone[:80]!r} is no IANA name such as Europe/Berlin") from None

    @property
    def zone(self) -> ZoneInfo:
        """The zone itself; zoneinfo keeps it after the first look."""
        return ZoneInfo(self.timezone)


def local_time(at: int, zone: ZoneInfo) -> datetime:
    """A time in Unix ms as a zone's clocks show it, brought within what a calendar knows."""
    return datetime.fromtimestamp(min(max(0, at), _LAST_MS) / 1000, zone)
