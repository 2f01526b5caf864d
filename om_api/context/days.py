"""Days: the lines that part messages of one day from those of the next."""

from collections.abc import Callable, Sequence
from datetime import date
from itertools import compress, islice, pairwise
from operator import is_not
from typing import NamedTuple
from zoneinfo import ZoneInfo

from om_api.context.signature import Signer
from om_api.context.view import Block, local_time
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message

Day = date | None  # None: nobody knows when it was


class Parted(NamedTuple):
    """The local days of messages, one object for one day. `first`: notes stand before them, so that the first one is dated too.

    `line` makes the line between two days; before the first one it is None that ends.
    """

    days: Sequence[Day]
    first: bool
    line: Callable[[Day, date], Block]

    def crossed(self, before: Day, day: Day) -> Block | None:
        """The line between two days, if they are two."""
        if not day or day == before or not (before or self.first):
            return None
        return self.line(before, day)

    def lines(self, messages: Sequence[Message]) -> list[tuple[int, Block]]:
        """Each line with the place of the message that it stands before, which answers no call."""
        n, before = len(messages), None
        found: list[tuple[int, Block]] = []
        turns = compress(range(1, n), map(is_not, self.days[1:], self.days))
        for start, end in pairwise([0, *turns, n]):
            for place in islice((at for at in range(start, end) if not _goes_on(messages, at)), 1):
                if line := self.crossed(before, self.days[place]):
                    found.append((place, line))
                before = self.days[place] or before
        return found


class DayLines:
    """Days and lines of one thread as one zone sees them; what was made once is not made again."""

    def __init__(self, signer: Signer, zone: ZoneInfo, count: Count) -> None:
        self._signer, self._zone, self._count = signer, zone, count
        self._days: dict[date, date] = {}
        self._lines: dict[tuple[Day, date], Block] = {}

    def day(self, message: Message) -> Day:
        """The local day of a message: one object for one day."""
        day = local_time(message.at, self._zone).date() if message.at > 0 else None
        return day and self._days.setdefault(day, day)

    def line(self, before: Day, day: date) -> Block:
        """The line between two days: ours, with its code, and the same whenever it is asked for."""
        if (before, day) not in self._lines:
            ended = f"Up to here: {spelled(before)}. " if before else ""
            text = self._signer.framed("system-reminder", f"{ended}From here on: {spelled(day)}.")
            block = Block(kind="day", role="user", text=text, stable=False, tokens=self._count(text))
            self._lines[before, day] = block
        return self._lines[before, day]


def _goes_on(messages: Sequence[Message], place: int) -> bool:
    """Whether a message answers a call, or goes on with calls that wait for their results."""
    message, before = messages[place], messages[place - 1] if place else None
    return _has("tool-result", message) or bool(before and message.role == "assistant" and _has("tool-call", before))


def _has(kind: str, message: Message) -> bool:
    return any(part["type"] == kind for part in message.parts) or (kind == "tool-result" and message.role == "tool")


def spelled(day: date) -> str:
    """A day in full: Thursday, November 20, 2025."""
    return f"{day:%A, %B} {day.day}, {day.year}"
