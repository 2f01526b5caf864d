"""Tense: whether a sentence speaks of what lies behind or ahead, read near one place of it."""

import re
from enum import Enum
from functools import lru_cache


class Tense(Enum):
    """Where a time without a year lies: `OPEN` says nothing, as in "call me on Monday"; `UNSURE` speaks for both."""

    BEHIND = -1
    UNSURE = 0
    AHEAD = 1
    OPEN = 2


_AHEAD = (
    r"will|['’]ll|won['’]t|shall|should|must|might|could|let['’]s|going\s+to|gonna|about\s+to|(?:have|has|got|need|needs)\s+to"
    r"|plan(?:s|ning)?|want(?:s|ing)?|hop(?:e|es|ing)|needs?|expect(?:s|ing)?|intends?|aim(?:s|ing)?|looking\s+forward"
    r"|(?:would|['’]d)\s+(?:like|love)|due|(?:\bam|\bis|\bare|['’]m|['’]re)\s+[a-z]+ing"
)
_UNSURE = (
    r"would(?:\s+\w+)?|['’]d|(?:had|needed)\s+to|(?:was|were)\s+(?:going|about)|wanted|planned|hoped|intended|supposed|scheduled|agreed"
    r"|decided|booked|promised|expected|read|put|set|cut|let|hit|quit|hurt|shut"
)
# of words in -ed no noun, and no adjective: "the finished parts"
_REGULAR = (
    "".join(
        rf"(?<!\b{word}\s)"
        for word in ("a", "an", "the", "my", "your", "our", "his", "her", "its", "their", "of", "with")
    )
    + r"[a-z]{2,}(?<!e)(?<!\bsh)(?<!\bsl)(?<!hundr)ed"
)
_BEHIND = (
    r"was|were|wasn['’]t|weren['’]t|did|didn['’]t|had|been|ate|became|began|bought|broke|brought|built|came|caught|chose|dealt"
    r"|drank|drew|drove|fed|fell|felt|flew|forgot|fought|found|gave|got|grew|heard|held|kept|knew|laid|led|left|lost|made|meant|met"
    r"|paid|ran|rang|rode|rose|said|sang|sat|saw|sent|shot|slept|sold|spent|spoke|stood|stole|swam|taught|thought|threw|told|took"
    rf"|understood|went|woke|won|wore|wrote|{_REGULAR}"
)
# what follows a form of "be" in the present is no past: "is scheduled", "must be paid"
_NO_PARTICIPLE = r"(?<!\bbe\s)(?<!\bis\s)(?<!\bam\s)(?<!\bare\s)(?<!['’]m\s)(?<!['’]re\s)(?<!\bget\s)(?<!\bgets\s)"
_MARK = re.compile(
    rf"(?:(?<!\w)|(?=['’]))(?:(?P<AHEAD>{_AHEAD})|{_NO_PARTICIPLE}(?:(?P<UNSURE>{_UNSURE})|(?P<BEHIND>{_BEHIND})))(?!\w)",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"[.!?;:,()\n\u2013\u2014]|\b(?:and|but|or|because|so|which|who|that|when|while|although|though|if)\b",
    re.IGNORECASE,
)
# what comes again and again, and what a year of its own places elsewhere
_TIMELESS = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|['’]\d\d\b|\b(?:every|each|always|usually|often|normally|typically|generally|sometimes|never"
    r"|whenever|annual|annually|yearly|monthly|weekly|birthdays?|born|anniversar(?:y|ies)|used\s+to)\b",
    re.IGNORECASE,
)


def tense_at(text: str, start: int, end: int) -> Tense:
    """The tense of a text at a place of it: that of the last verb before in its clause, else of the first one behind.

    A clause without a sign of tense is unsure in a text that has some elsewhere, and everything is in a text that names a
    year or tells of a habit.
    """
    marks, joints, timeless = _signs(text)
    if timeless:
        return Tense.UNSURE
    first = max((after for _, after in joints if after <= start), default=0)
    last = min((before for before, _ in joints if before >= end), default=len(text))
    before = [mark for at, mark in marks if first <= at < start]
    behind = [mark for at, mark in marks if end <= at < last]
    return [*before[-1:], *behind[:1], Tense.UNSURE if marks else Tense.OPEN][0]


@lru_cache(maxsize=1)  # a text is asked about each of its dates
def _signs(text: str) -> tuple[list[tuple[int, Tense]], list[tuple[int, int]], bool]:
    """The signs of tense in a text with their places, the spans of the joints of its clauses, and whether it is timeless."""
    marks = [(mark.start(), Tense[mark.lastgroup or "OPEN"]) for mark in _MARK.finditer(text)]
    joints = [joint.span() for joint in _JOINT.finditer(text)]
    return marks, joints, _TIMELESS.search(text) is not None
