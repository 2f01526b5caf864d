"""Pairs: which neighbouring words of notes are neighbours in what was said, too: a note that drops words tears them apart.

A pair is two words that follow each other in a note. Only lines with a bullet are notes: date headings, tags and sections
like the current task are not. Of a line are left out first, for they are ours: its mark, its time, the arrow of a detail, the
speaker it begins with, and what stands in brackets about it ("(meaning Mar 14, 2025)", the question that a "yes" answers).
A word is letters and digits, an apostrophe within, or a sign of what is written without blanks; case and all else count for
nothing.

A pair stands in the source when the two words follow each other in a message of the note's day, however they are parted
there. A note's sentence ends at `.`, `!`, `?` or `; `, by which we join sentences: there a pair `within` sentences ends, and
one `across` them does not, so that a note of single words cannot pass for whole sentences.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise

import msgspec
from msgspec import field

from om_api.language.calendar import MONTH, Day, days
from om_bench.harness.stems import UNPARTED
from om_bench.harness.talks import Talk, seen
from om_bench.memory.tally import Tally

Pair = tuple[str, str]

_LETTERS = rf"[^\W_{UNPARTED}]+"
_WORD = re.compile(rf"[{UNPARTED}]|{_LETTERS}(?:'{_LETTERS})*")
_NOTE = re.compile(r"\s*[*-]\s+(?:[🔴🟡🟢✅]\s*)?(?:\(\d{1,2}:\d{2}\)\s*)?(?:(?:->|→)\s*)?(.+)")
_HEADING = "Date:"
_OURS = re.compile(rf'\((?:meaning\b[^()]*|to ".*?"|(?:{MONTH})\b[^()]{{0,30}})\)')
_END = re.compile(r"(?<=[.!?;…])[\"'”’)\]]*\s+|(?<=[。！？；])")
_ROLES = ("user", "assistant", "system", "tool")


class Torn(msgspec.Struct):
    """Pairs that stand in the source, of all: within sentences, and across their joints too; and the longest line's words."""

    within: Tally = field(default_factory=Tally)
    across: Tally = field(default_factory=Tally)
    longest: int = 0


class SaidPairs:
    """The pairs of a talk, by the day (UTC) they were said on."""

    def __init__(self, talk: Talk) -> None:
        self._days: dict[Day, set[Pair]] = defaultdict(set)
        for message in talk.messages:
            at = datetime.fromtimestamp(message.at / 1000, UTC)
            self._days[Day(at.year, at.month, at.day)].update(pairwise(words(seen(message))))
        self._all = set(chain.from_iterable(self._days.values()))
        self._label = _labels(talk)

    def judge(self, notes: str, found: Torn) -> None:
        """Add the pairs of notes to what was `found` before."""
        said = self._all
        for line in notes.splitlines():
            if line.startswith(_HEADING):
                said = self._of(line)
            elif note := _NOTE.fullmatch(line):
                self._judge(_OURS.sub(" ", self._label.sub("", note[1])), said, found)

    def _of(self, heading: str) -> set[Pair]:
        return self._days.get(named[0], set()) if (named := days(heading)) else self._all

    def _judge(self, note: str, said: set[Pair], found: Torn) -> None:
        sentences = [words(sentence) for sentence in _END.split(note)]
        line = list(chain.from_iterable(sentences))
        _add(found.within, chain.from_iterable(map(pairwise, sentences)), said)
        _add(found.across, pairwise(line), said)
        found.longest = max(found.longest, len(line))


def words(text: str) -> Sequence[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.replace("’", "'").lower())


def _add(tally: Tally, pairs: Iterator[Pair], said: set[Pair]) -> None:
    kept = [pair in said for pair in pairs]
    tally.add(sum(kept), len(kept))


def _labels(talk: Talk) -> re.Pattern[str]:
    """What a note says of its speaker: a person's name, a role, a tool, and whether something was asked."""
    tools = {str(part["name"]) for message in talk.messages for part in message.parts if part.get("name")}
    named = "|".join(map(re.escape, sorted({*talk.people, *_ROLES, *tools}, key=len, reverse=True)))
    return re.compile(rf"^(?:tool\s+)?(?:{named})(?: asked)?:\s+", re.IGNORECASE)
