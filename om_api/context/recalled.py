"""What was said before about the newest message, as the closing block shows it: bounded, and nothing that is shown anyway."""

from collections.abc import Collection, Sequence
from html import escape as attribute
from typing import NamedTuple

from om_api.context.parts import plain
from om_api.context.view import View, local_time
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.language.calendar import show_day
from om_api.language.words import holds_word
from om_api.recall.marking import excerpt
from om_api.recall.query import Query
from om_api.recall.recalled import RecalledHit

_OPEN, _CLOSE = "<recalled>", "</recalled>"
_TOLD = "Found by the words of the newest message, oldest first; it may not bear on it:"
_LONGEST = 1_600  # characters of one message
_LEAST = 60  # characters below which a cut message says nothing
_AROUND = 300  # characters of a turn beside a hit


class RecalledSection(NamedTuple):
    """The section, "" when nothing is to be shown, and the hits that are in it."""

    text: str = ""
    hits: tuple[RecalledHit, ...] = ()


NOTHING = RecalledSection()


def recalled_section(
    hits: Sequence[RecalledHit],
    shown: Collection[str],
    notes: str,
    thread: str,
    view: View,
    count: Count,
    resource: str = "",
) -> RecalledSection:
    """Show hits, the best first, while the view has room; `shown` are ids of the thread's own messages in view.

    What stands in `notes` word for word is left out. Of a long message the part is shown that has the words. A turn beside a
    hit is shown with it, where there is room. What is retracted is not shown. What is found in another memory than the
    `resource`'s says in whose.
    """
    lines = _Lines(thread, view, count)
    kept: list[RecalledHit] = []
    for hit in hits:
        whose = "" if hit.resource_id == resource else hit.resource_id
        own = () if whose else shown
        gone = hit.id in hit.retracted
        if hit.message is None or gone or _is_shown(hit.message, own, notes, thread):
            continue
        if lines.take(hit.message, hit.matched, _LONGEST, whose):
            kept.append(hit)
            for message in (*hit.before[-1:], *hit.after[:1]):
                if message.id not in hit.retracted and not _is_shown(message, own, notes, thread):
                    lines.take(message, hit.matched, _AROUND, whose)
    return RecalledSection(lines.text, tuple(kept)) if kept else NOTHING


class _Lines:
    """Lines of messages within a budget of tokens, each message once, under a heading for each day of a thread."""

    def __init__(self, thread: str, view: View, count: Count) -> None:
        self._thread, self._view, self._count = thread, view, count
        self._room = view.recalled_tokens - count(f"{_OPEN}\n{_TOLD}\n{_CLOSE}\n")
        self._lines: dict[tuple[int, str, str, str], tuple[str, str]] = {}

    def take(self, message: Message, words: tuple[str, ...], longest: int, whose: str) -> bool:
        """Show a message, or the part of it with most of these words; False where there is no room for what says anything."""
        place = message.at, whose, message.thread_id, message.id
        if place in self._lines:
            return True
        asked, heading = Query(words=words), self._heading(message, whose)
        known = any(heading == other for other, _ in self._lines.values())
        room = self._room - (0 if known else self._count(f"{heading}\n"))
        text = excerpt(" ".join(plain(message).split()), asked, longest)
        size, least = longest, max(min(len(text), _LEAST), 1)
        while size >= least:
            line = f"{message.role}: {escape(excerpt(text, asked, size))}"
            if (cost := self._count(f"{line}\n")) <= room:
                self._room = room - cost
                self._lines[place] = heading, line
                return True
            size = min(size, len(text)) * 3 // 4
        return False

    def _heading(self, message: Message, whose: str) -> str:
        where = "" if message.thread_id == self._thread else f", {attribute(message.thread_id)}"
        where = f", {attribute(whose)}" if whose else where
        return f"{show_day(local_time(message.at, self._view.zone))}{where}"

    @property
    def text(self) -> str:
        """The whole section, oldest message first."""
        told, heading = [_OPEN, _TOLD], ""
        for place in sorted(self._lines):
            own, line = self._lines[place]
            told += [line] if own == heading else [own, line]
            heading = own
        return "\n".join([*told, _CLOSE])


def _is_shown(message: Message, shown: Collection[str], notes: str, thread: str) -> bool:
    if message.thread_id == thread and message.id in shown:
        return True
    text = " ".join(message.text().split()).rstrip(".!?")
    return bool(text) and holds_word(notes, text)
