"""How much of a memory a reader wants to see, and in which time zone."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import msgspec

from om_api.domain.errors import InvalidInputError


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a context is cut to; budgets are in tokens.

    `timezone` (IANA) decides today's date. `excerpt_tokens` bounds each other thread's excerpt, `others_tokens` all of
    them together, `context_max_tokens` the whole context. Raises InvalidInputError for a zone nobody knows.
    """

    timezone: str = "UTC"
    excerpt_tokens: int = 200
    others_tokens: int = 2000
    context_max_tokens: int | None = None

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
