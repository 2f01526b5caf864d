"""Earlier notes: what of them is vouched for, what they quote, and what they say that somebody else said."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from om_api.domain.note_lines import told
from om_api.domain.notes.marks import MARK, Mark, mark_of
from om_api.domain.notes.trust import USUAL, Trust
from om_workers.trust.about import tells_of_somebody
from om_workers.trust.judging import Judge
from om_workers.trust.looks import look_of
from om_workers.trust.reading import source_in, without_label
from om_workers.trust.sayings import Saying

_MOST_LINES = 200


def judge_of(texts: Sequence[str], trust: Trust = USUAL) -> Judge:
    """Who says of a reflection what may stand: its notes' own lines may, what they quote, or say that a tool said, may not."""
    lines = [line for text in texts for line in text.split("\n")]
    others = attributed_in(lines, trust)
    named = {each.text for each in others}
    own = [
        Saying("notes", said, trusted=True, own=True) for said in unmarked(lines) if without_label(said) not in named
    ]
    return Judge([*own, *others], marks_in(texts), unknown="earlier notes")


def unmarked(lines: Iterable[str]) -> Iterator[str]:
    """What lines of notes tell that are not marked."""
    return (said for line in lines if (said := told(line)) and not mark_of(line))


def vouched_in(texts: Sequence[str]) -> list[str]:
    """The newest lines of notes that are not marked, at most 200."""
    return list(islice(unmarked(_newest_first(texts)), _MOST_LINES))


def told_in(texts: Sequence[str], trust: Trust) -> list[Saying]:
    """What the newest of them say that a tool said of some person, or to a model: whoever repeats it repeats the tool."""
    said = attributed_in(islice(_newest_first(texts), _MOST_LINES), trust)
    return [each for each in said if tells_of_somebody(each.text) or look_of(each.text)]


def _newest_first(texts: Sequence[str]) -> Iterator[str]:
    return (line for text in reversed(texts) for line in reversed(text.split("\n")))


def attributed_in(lines: Iterable[str], trust: Trust) -> list[Saying]:
    """What lines of notes say that a tool or a page said whom nobody trusts."""
    sources = ((said, source_in(said)) for said in unmarked(lines))
    return [
        Saying(f"tool {name}", without_label(said), trusted=False)
        for said, name in sources
        if name and not trust.of_tool(name)
    ]


def marks_in(texts: Sequence[str]) -> list[Mark]:
    """What is quoted in notes."""
    lines = (line for text in texts if MARK in text for line in text.split("\n"))
    return [mark for line in lines if (mark := mark_of(line))]
