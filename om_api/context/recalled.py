"""What was said before about the newest message, as the closing block shows it: bounded, and nothing that is shown anyway."""

from collections.abc import Collection, Iterator, Sequence
from html import escape as attribute
from typing import NamedTuple

from om_api.context.parts import plain
from om_api.context.view import View, local_time
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.recall.recalled import RecalledHit

_OPEN, _CLOSE = "<recalled>", "</recalled>"
_TOLD = "Found among earlier messages by the words of the newest one, oldest first; it may not bear on it:"
_LONGEST = 1_600  # characters of one message
_LEAST = 60  # characters below which a cut message says nothing
_AROUND = 300  # characters of a turn beside a hit


class RecalledSection(NamedTuple):
    """The section, "" when nothing is to be shown, and the hits that are in it."""

    text: str = ""
    hits: tuple[RecalledHit, ...] = ()


NOTHING = RecalledSection()


def recalled_section(
    hits: Sequence[RecalledHit], shown: Collection[str], notes: str, thread: str, view: View, count: Count
) -> RecalledSection:
    """Show hits, the best first, while the view has room; `shown` are ids of the thread's own messages in view.

    What stands in `notes` word for word is left out. A turn beside a hit is shown with it, where there is room.
    """
    room = view.recalled_tokens - count(f"{_OPEN}\n{_TOLD}\n{_CLOSE}\n")
    lines: dict[tuple[int, str, str], str] = {}
    kept: list[RecalledHit] = []
    for hit in hits:
        if hit.message is None or _is_shown(hit.message, shown, notes, thread):
            continue
        own = _line(hit.message, thread, view, _cut(plain(hit.message), _LONGEST))
        if (cost := count(f"{own}\n")) > room:
            own = own[: max(room * 3, 0)]
            if len(own) < _LEAST or (cost := count(f"{own}…\n")) > room:
                break
            own += "…"
        room -= cost
        lines[_place(hit.message)] = own
        kept.append(hit)
    for message in _beside(kept):
        if _place(message) in lines or _is_shown(message, shown, notes, thread):
            continue
        line = _line(message, thread, view, _cut(plain(message), _AROUND))
        if (cost := count(f"{line}\n")) <= room:
            room -= cost
            lines[_place(message)] = line
    if not lines:
        return NOTHING
    text = "\n".join([_OPEN, _TOLD, *(lines[place] for place in sorted(lines)), _CLOSE])
    return RecalledSection(text, tuple(kept))


def _beside(hits: Sequence[RecalledHit]) -> Iterator[Message]:
    for hit in hits:
        yield from (*hit.before[-1:], *hit.after[:1])


def _place(message: Message) -> tuple[int, str, str]:
    return message.at, message.thread_id, message.id


def _is_shown(message: Message, shown: Collection[str], notes: str, thread: str) -> bool:
    if message.thread_id == thread and message.id in shown:
        return True
    text = " ".join(message.text().split()).rstrip(".!?")
    return bool(text) and text in notes


def _line(message: Message, thread: str, view: View, text: str) -> str:
    at = local_time(message.at, view.zone)
    where = "" if message.thread_id == thread else f" in {attribute(message.thread_id)}"
    return f"[{at:%Y-%m-%d %H:%M}] {message.role}{where}: {text}"


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return escape(line if len(line) <= most else f"{line[:most]}…")  # again: a tag may be split between two lines
