"""Notes: the dated lines of our format, written and read, and how many tokens they take."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.tokens import counter
from om_api.language.telegraphic import one_line

HIGH, MIDDLE, LOW, DONE = "🔴", "🟡", "🟢", "✅"
LONGEST = 1_000  # characters read of one line
FRAME = "<observations>\n\n</observations>\n"
HEADER = 10  # tokens of `Date: Jan 00, 2000` and its line end
_THREAD = re.compile(r'\s*<thread\s+id="([^"<>\n]{1,200})"[^<>\n]*>\s*', re.IGNORECASE)
_DATE = re.compile(r"\s*Date:\s*(\S.{0,60}?)\s*", re.IGNORECASE)
_BULLET = re.compile(r"(\s*)[*-]\s+(?:(🔴|🟡|🟢|✅)\s*)?(?:\((\d{1,2}:\d{2})\)\s*)?(.+)")
_ARROW = re.compile(r"^(?:->|→)\s*")
_OWN_TAG = re.compile(r"\s*</?(?:thread|observations|reflection)\b[^<>\n]{0,300}>\s*", re.IGNORECASE)
counted = counter()  # as recent models do, where their vocabulary is at hand
_PIECE = re.compile(r"['’]?[A-Za-z]{1,12}|\d{1,3}|[^\sA-Za-z0-9]")
_PICTURE = re.compile("[\U00010000-\U0010ffff]")  # two tokens each


class DatedNote(msgspec.Struct):
    """One dated line and its nested details. `day` is the text of its Date header; '' is what was not given."""

    text: str
    priority: str = ""
    time: str = ""
    day: str = ""
    thread: str = ""
    details: list[str] = []

    def lines(self) -> list[str]:
        """The note as we write it, an ordinary one without a mark, a foreign line as it was; none can open or close a tag."""
        bullet = "* " if self.priority else ""
        mark = f"{self.priority} " if self.priority not in ("", MIDDLE) else ""
        time = f"({self.time}) " if self.time else ""
        return [
            f"{bullet}{mark}{time}{escape(one_line(self.text))}",
            *(f"  * -> {escape(one_line(it))}" for it in self.details),
        ]


def write(notes: Iterable[DatedNote]) -> str:
    """Notes as text, in their order: a Date header where the day changes, a section where the thread does."""
    lines: list[str] = []
    thread = day = ""
    for note in notes:
        if note.thread != thread:
            lines += _turn(thread, note.thread)
            thread, day = note.thread, ""
        if note.day and note.day != day:
            lines.append(f"Date: {note.day}")
            day = note.day
        lines += note.lines()
    return "\n".join([*lines, *_turn(thread, "")])


def _turn(left: str, entered: str) -> list[str]:
    return ["</thread>"] * bool(left) + [f'<thread id="{entered}">'] * bool(entered)


def read(text: str) -> Iterator[DatedNote]:
    """The notes of a text, ours or any other; lines of tags alone are no notes."""
    thread = day = ""
    last: DatedNote | None = None
    for line in (line[:LONGEST] for line in text.splitlines()):
        if found := _THREAD.fullmatch(line):
            thread, day, last = found[1], "", None
        elif _OWN_TAG.fullmatch(line):
            thread, day, last = "", "", None
        elif found := _DATE.fullmatch(line):
            day, last = found[1], None
        elif (nested := _BULLET.fullmatch(line)) and nested[1] and last and not nested[2]:
            last.details.append(_ARROW.sub("", nested[4]))
        elif line.strip():
            last = _note(line, day, thread)
            yield last


def _note(line: str, day: str, thread: str) -> DatedNote:
    if found := _BULLET.fullmatch(line):
        text, priority, time = found[4], found[2] or MIDDLE, found[3] or ""
        return DatedNote(text.strip(), priority, time.zfill(5) if time else "", day, thread, [])
    return DatedNote(line.strip(), "", "", day, thread, [])


def tokens(text: str) -> int:
    """About how many tokens a text is worth: one for a word of up to twelve letters, three digits, or another sign.

    Fitted to o200k_base on English talk, with articles and without; a text of few blanks counts as its characters do.
    """
    return len(_PIECE.findall(text)) + len(_PICTURE.findall(text))


def size_of(messages: Iterable[Message]) -> int:
    """About how many tokens messages are worth."""
    return sum(count_message(message, tokens) for message in messages)
