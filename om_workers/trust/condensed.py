"""What was quoted in notes stays quoted in what they are condensed to."""

from collections.abc import Sequence

from msgspec.structs import replace

from om_api.domain.notes.trust import USUAL, Trust
from om_workers.prompts.parse import Reflected
from om_workers.trust.judging import Judge
from om_workers.trust.noting import attributed_in, marks_in, quoted, unmarked
from om_workers.trust.reading import without_label
from om_workers.trust.sayings import Saying


def judge_of(texts: Sequence[str], trust: Trust = USUAL) -> Judge:
    """Who says of a reflection what may stand: its notes' own lines may, what they quote, or say that a tool said, may not."""
    lines = [line for text in texts for line in text.split("\n")]
    others = attributed_in(lines, trust)
    named = {each.text for each in others}
    own = [
        Saying("notes", said, trusted=True, own=True) for said in unmarked(lines) if without_label(said) not in named
    ]
    return Judge([*own, *others], marks_in(texts), unknown="earlier notes")


def requoted(said: Reflected, judge: Judge) -> Reflected:
    """A reflection in which what was quoted is quoted again, and no pattern or insight tells it."""
    if judge.harmless:
        return said
    kept = {
        name: tuple(each for each in getattr(said, name) if not judge.of(each)) for name in ("patterns", "insights")
    }
    return replace(said, text=quoted(said.text, judge), **kept)
