"""Activations: how notes that come in force together are laid out in a context, and what that takes besides their text."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from html import escape as attribute
from typing import NamedTuple

import msgspec

from om_api.domain.message_tokens import Count
from om_api.domain.values import Observation

SMALL = 1_000  # bytes (UTF-8) of a thread's notes that need no section
LONGEST, TAIL = 16, 4  # characters of an id that is a label, and of a longer one that stand in its label
_END = 8  # characters with which a line end is counted, for it may be one token with a full stop
_MOST_WRAPPER = 1_000  # tokens; a section's lines have two ids of at most 200 characters
_FRAME = '<observations id="000000000000">\n\n</observations>\n\n'
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]"
_DATED = re.compile(rf"Date: [^<\x00-\x1f\x7f-\x9f\u2028\u2029]{{1,40}}(?:\n(?:Date: | *[*-] ){_PLAIN}*)+")


class Section(NamedTuple):
    """The notes of one thread as a context shows them: lines before them, `body`, and a line behind them.

    `repeated` is the date line of the notes that is left out, because it is that of the section before.
    """

    opening: tuple[str, ...]
    body: str
    closing: tuple[str, ...] = ()
    repeated: str = ""

    def written(self, escape: Callable[[str], str]) -> str:
        """All of it, a text on several lines; the notes are escaped."""
        return "\n".join([*self.opening, escape(self.body), *self.closing])


def sections(texts: Mapping[str, str]) -> list[Section]:
    """Lay out the notes of threads, by thread, in their order.

    Neighbours whose notes are small share a block: each has a line `[id]` instead of a section, and a date line is not repeated.
    Every other line of such notes begins as a note or a date, so that none of them can be taken for a label. An id of more than
    LONGEST characters is cut to its end where no other one ends like it. All of this follows from the texts alone.
    """
    small = [False, *map(_is_small, texts.values()), False]
    ends = Counter(name[-TAIL:] for name in texts if len(name) > LONGEST)
    found, day = list[Section](), ""
    for n, (name, text) in enumerate(texts.items(), 1):
        if not (small[n] and (small[n - 1] or small[n + 1])):
            found.append(Section((f'<thread id="{attribute(name)}">',), text, ("</thread>",)))
            day = ""
            continue
        label = f"[…{name[-TAIL:]}]" if len(name) > LONGEST and ends[name[-TAIL:]] == 1 else f"[{name}]"
        date, _, body = text.partition("\n")
        found.append(Section((label,), body, repeated=date) if date == day else Section((date, label), body))
        day = next(line for line in reversed(text.split("\n")) if line.startswith("Date: "))
    return found


def wrappers(notes: Iterable[tuple[str, str]], count: Count, *, pooled: bool) -> list[int]:
    """The tokens that each of the notes (thread, text) of one activation takes besides its text.

    The first of a thread has what the thread's section takes, less than 0 where a date line is left out, and the first of all
    what the block takes.
    """
    notes = list(notes)
    texts = by_thread(notes) if pooled else {}
    left = {name: _besides(section, count) for name, section in zip(texts, sections(texts), strict=True)}
    frame, found = count(_FRAME), list[int]()
    for name, text in notes:
        if not text.strip():
            found.append(0)
            continue
        line_end = count(f"{text[-_END:]}\n") - count(text[-_END:])
        found.append(frame + left.pop(name, 0) + line_end)
        frame = 0
    return found


def by_thread(notes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The notes of each thread together, in order of appearance, without those that say nothing."""
    found: dict[str, list[str]] = {}
    for name, text in notes:
        if text.strip():
            found.setdefault(name, []).append(text)
    return {name: "\n".join(said) for name, said in found.items()}


def alone(made: Observation, count: Count, *, pooled: bool) -> Observation:
    """An observation that comes in force by itself, with the tokens that a context writes around it."""
    (besides,) = wrappers([(made.thread_id, made.text)], count, pooled=pooled)
    return msgspec.structs.replace(made, tokens=made.text_tokens + besides, wrapper_tokens=besides)


def tokens_of_text(own: Observation, text: str, count: Count) -> dict[str, int]:
    """The token fields of an observation whose text is `text`, which is counted.

    A stored wrapper takes no more from the text than it has, and adds at most 1,000 tokens.
    """
    size = count(text)
    besides = min(max(own.wrapper_tokens, -size), _MOST_WRAPPER) if text.strip() else 0
    return {"tokens": size + besides, "wrapper_tokens": besides}


def _besides(section: Section, count: Count) -> int:
    written = (line for line in (*section.opening, *section.closing) if not line.startswith("Date: "))
    return sum(count(f"{line}\n") for line in written) - (count(f"{section.repeated}\n") if section.repeated else 0)


def _is_small(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) <= SMALL and _DATED.fullmatch(text) is not None
