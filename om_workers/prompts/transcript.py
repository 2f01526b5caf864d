"""Messages as an Observer reads them: a turn for each thing said, called, answered or attached."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from om_api.domain.folding import folded
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.values import to_ms
from om_api.language.calendar import SHORT_MONTHS, zone_of
from om_workers.prompts.parts import Attachments, Parts, Utterance
from om_workers.prompts.threads import thread_section

_LAST_MS = 250_000_000_000_000  # in the year 9892: a broken clock must not stop an Observer
_NOON = 12


def format_messages(messages: Sequence[Message], timezone: str, count: Callable[[str], int]) -> str:
    """Return the messages as text, in their order, escaped; "" if nothing of them can be seen.

    `Dec 4 2025:` where the date changes, then `Label (9:15 AM): text`: the label is the speaker's name or role, the time stands
    only where it differs from the line before or a tool speaks. A call or outcome that is repeated under its tool_call_id stands
    once; a result of more than 10,000 tokens is cut. Whatever a text looks like, only its first line begins where heads do: the
    others stand behind a tab.
    A message without a time shows none.
    """
    return _formatted(messages, zone_of(timezone), Parts(count, Attachments()))


def format_threads(threads: Mapping[str, Sequence[Message]], timezone: str, count: Callable[[str], int]) -> str:
    """Return a `<thread id="…">` section for each thread, each a transcript by itself; attachments are numbered through.

    A thread of which nothing can be seen has no section.
    """
    zone, attachments = zone_of(timezone), Attachments()
    said = {name: _formatted(messages, zone, Parts(count, attachments)) for name, messages in threads.items()}
    return "\n".join(thread_section(name, text) for name, text in said.items() if text)


def _formatted(messages: Sequence[Message], zone: ZoneInfo, parts: Parts) -> str:
    transcript = _Transcript(zone)
    for message in messages:
        for part in message.parts:
            for line in parts.said(message.role, part, message.speaker):
                transcript.write(line, _at(message, part))
    return escape("\n".join(transcript.lines))


def _at(message: Message, part: Mapping[str, object]) -> int:
    at = to_ms(part.get("timestamp")) or message.at or to_ms(message.timestamp) or 0
    return min(max(0, at), _LAST_MS)


class _Transcript:
    """Lines under their dates, each with its time where that is news."""

    def __init__(self, zone: ZoneInfo) -> None:
        self.lines: list[str] = []
        self._zone = zone
        self._date = self._time = ""

    def write(self, line: Utterance, at: int) -> None:
        """Add a line that was said at `at`, Unix ms; 0 is a time nobody knows."""
        time = self._time_of(datetime.fromtimestamp(at / 1000, self._zone)) if at else ""
        shown = time and (time != self._time or line.label.startswith("Tool"))
        self._time = time or self._time
        label = f"{line.label} ({time})" if shown else line.label
        self.lines.append(f"{label}: {folded(line.text)}")

    def _time_of(self, at: datetime) -> str:
        date = f"{SHORT_MONTHS[at.month - 1]} {at.day} {at.year}:"
        if date != self._date:
            self.lines.append(date)
            self._date, self._time = date, ""
        return f"{at.hour % _NOON or _NOON}:{at.minute:02} {'PM' if at.hour >= _NOON else 'AM'}"
