"""How often an API key may ask: so many requests in any window of one length."""

import re
from typing import NamedTuple

from om_api.domain.errors import InvalidInputError

MOST = 10_000
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_WORDS = {1: "second", 60: "minute", 3_600: "hour", 86_400: "day"}
_RATE = re.compile(r"([0-9]{1,5})/([smhd])")


class RequestRate(NamedTuple):
    """So many requests within any so many seconds."""

    requests: int
    seconds: int

    def __str__(self) -> str:
        """Write it in words: 60 requests a minute."""
        return f"{self.requests:,} requests {'an' if self.seconds == _UNITS['h'] else 'a'} {_WORDS[self.seconds]}"

    @classmethod
    def parse(cls, text: str) -> "RequestRate":
        """Read a rate such as 60/m; raises InvalidInputError for other texts."""
        found = _RATE.fullmatch(text)
        if not found or not 1 <= int(found[1]) <= MOST:
            raise InvalidInputError(
                f"invalid rate: {text[:40]!r}; state 1 to {MOST:,} requests in a second, minute, hour or day, such as 60/m"
            )
        return cls(int(found[1]), _UNITS[found[2]])
