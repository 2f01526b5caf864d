"""Groups of notes that are set aside whole, each with a heading to choose it by; no model makes any of it."""

import re
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, tzinfo
from hashlib import blake2b
from itertools import accumulate, groupby
from typing import NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.note_lines import body, told
from om_api.domain.tags import escape
from om_api.domain.values import Observation, shown

LONGEST = 240  # characters of a heading
NAME = re.compile(r"[a-z2-7]{8}")
PERIOD = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
ALL = "all"
_SHARE = 10  # groups in observation_threshold tokens, about: a larger one is divided
_SMALL = 4  # of a group: from such a share of a full one on another day begins another one
_PIECE, _LEAST = 90, 24  # characters that a heading gives to one of many notes, and the fewest that are worth it
_LAST_MS = 253_402_214_400_000  # of the year 9999, as far as a calendar goes
_RANKS = {mark: rank for rank, mark in enumerate("🔴✅🟡", 1)}
_SPOKEN, _OTHER, _MINOR = (
    4,
    5,
    6,
)  # what no mark is on: what somebody said, results of tools and the like, what is marked as minor
_SPEAKER = re.compile(r"(?:User|Assistant)(?: \([^)]{1,40}\))?: ")
_ASIDE = re.compile(r" ?\(meaning [^)]{1,60}\)")
_CLAUSE = re.compile(r"(?<=[\w)\]'\"])(?:[.!?;] |[.!?;]$| … )")
_WORD = re.compile(r"\w{3,}")


class NoteGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Notes of one thread that were set aside together, by the name that `heading` shows.

    `from` and `to` are the times (Unix ms) of the messages that they are of, `observations` how many they stand in, `notes`
    how many lines that say something, and `generation` the one that set them aside.
    """

    id: str
    thread_id: str
    heading: str
    from_: int = msgspec.field(default=0, name="from")
    to: int = 0
    observations: int = 0
    notes: int = 0
    tokens: int = 0
    generation: int = 0


class DatedNotes(NamedTuple):
    """Notes of one thread that belong together, and the days (in some zone) of the first and the last."""

    observations: Sequence[Observation]
    first: date
    last: date

    @classmethod
    def of(cls, observations: Sequence[Observation], zone: tzinfo) -> "DatedNotes":
        """Observations, which are at least one, with their days."""
        return cls(observations, *(_day(ms, zone) for ms in _span(observations)))

    @property
    def name(self) -> str:
        """What they are called once they are set aside: of the first of them, so that no two groups have one name.

        What was in a group before, and came back into view, goes there again: generations that are kept name it.
        """
        first = self.observations[0]
        return first.group or b32encode(blake2b(first.id.encode(), digest_size=5).digest()).decode().lower()

    @property
    def notes(self) -> int:
        """How many lines say something."""
        return sum(1 for _ in _said(self.observations))

    def heading(self, name: str) -> str:
        """One line of at most 240 characters: when, by which name, how many notes, and what the foremost of them say."""
        days = f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"
        return _headed(f"* {days} [{name}] ", self.observations)


def headed_again(heading: str, observations: Sequence[Observation]) -> str:
    """A heading of what is left of its group, of the days that it was of; "" where nothing is left that says anything."""
    lead, _, _ = heading.partition("] ")
    return _headed(f"{lead}] ", observations) if any(_said(observations)) else ""


def _headed(lead: str, observations: Sequence[Observation]) -> str:
    lines = list(_said(observations))
    lead = f"{lead}{len(lines)} note{'s' * (len(lines) != 1)}: "
    return lead + _about(lines, LONGEST - len(lead))


def oldest(observations: Sequence[Observation], keep_tokens: int, most: int) -> int:
    """How many of the oldest are set aside: all but the newest that fit into `keep_tokens`, of which `most` may stay."""
    fitting = sum(total <= keep_tokens for total in accumulate(own.tokens for own in reversed(observations)))
    return max(0, len(observations) - min(fitting, most))


def grouped(observations: Iterable[Observation], threshold: int, zone: tzinfo) -> Iterator[DatedNotes]:
    """Observations as groups: of each thread in its order, a day in one unless it is long, small days together.

    `threshold` is observation_threshold: a group has about a tenth of it, and more only where one observation has.
    """
    threads: dict[str, list[Observation]] = {}
    for own in observations:
        threads.setdefault(own.thread_id, []).append(own)
    for some in threads.values():
        for run in _runs(some, max(1, threshold // _SHARE), zone):
            yield DatedNotes.of(run, zone)


def _runs(observations: Iterable[Observation], full: int, zone: tzinfo) -> Iterator[list[Observation]]:
    run, size = list[Observation](), 0
    for own in observations:
        turns = bool(run) and _day(_at(own), zone) != _day(_at(run[-1]), zone)
        apart = size + own.text_tokens > full or (turns and size >= full // _SMALL)
        if run and (run[-1].group != own.group or (apart and not own.group)):
            yield run
            run, size = [], 0
        run.append(own)
        size += own.text_tokens
    if run:
        yield run


def lifetime(observations: Iterable[Observation], ttl_s: int) -> int:
    """How long (s) a history of these lives: 0, as long as its memory, where any was set aside, for no text says what it says."""
    return 0 if any(own.group for own in observations) else ttl_s


def groups_of(kept: Iterable[tuple[int, Observation]], zone: tzinfo) -> list[NoteGroup]:
    """The groups of what generations set aside, the oldest first; `kept` is each with the number of that generation."""
    named = sorted(((own.group, n, own) for n, own in kept if own.group), key=lambda each: each[:2])
    found = []
    for name, some in groupby(named, key=lambda each: each[0]):
        members = list(some)
        found.append(_group(name, members[0][1], [own for _, _, own in members], zone))
    return sorted(found, key=lambda group: (group.from_, group.to, group.id))


def _group(name: str, generation: int, observations: Sequence[Observation], zone: tzinfo) -> NoteGroup:
    first, last = _span(observations)
    dated = DatedNotes.of(observations, zone)
    return NoteGroup(
        id=name,
        thread_id=observations[0].thread_id,
        heading=dated.heading(name),
        from_=first,
        to=last,
        observations=len(observations),
        notes=dated.notes,
        tokens=sum(own.text_tokens for own in observations),
        generation=generation,
    )


def within(groups: Iterable[NoteGroup], period: str, zone: tzinfo) -> list[NoteGroup]:
    """Groups that begin in a period: a month (2026-03), a year (2026), or `all`."""
    return [each for each in groups if period == ALL or f"{_day(each.from_, zone)}".startswith(period)]


def is_period(name: str) -> bool:
    """Whether a name is that of several groups: a month, a year, or all."""
    return name == ALL or PERIOD.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Raise InvalidInputError for what cannot be the name of one group."""
    if not NAME.fullmatch(name):
        raise InvalidInputError(f"group {shown(name, 40)!r} is no name of a group: 8 of a-z and 2-7")


def check_group(name: object) -> str:
    """Return what may be the name of a group, or of several; InvalidInputError for anything else."""
    if isinstance(name, str) and (NAME.fullmatch(name) or is_period(name)):
        return name
    raise InvalidInputError(
        f"group is {shown(name, 40)!r}: use a name as it stands in brackets in the catalogue, such as k3fq7a2m, a month"
        " such as 2026-03, a year, or all"
    )


# -- what a heading says -----------------------------------------------------------------------------------------------


def _said(observations: Iterable[Observation]) -> Iterator[str]:
    """The lines that say something."""
    return (line for own in observations for line in own.text.split("\n") if told(line).strip())


def _about(lines: Sequence[str], room: int) -> str:
    """The beginnings of the notes that matter most, in their own order, as many as have room."""
    chosen, left, words = dict[int, str](), room, list[set[str]]()
    share = max(_PIECE, room // max(1, len(lines)))
    for at in sorted(range(len(lines)), key=lambda at: (_rank(lines[at]), at)):
        most = min(left, share)
        piece = _clipped(_plain(lines[at]), most)
        mine = set(_WORD.findall(piece.lower()))
        if most < _LEAST or not piece or any(2 * len(mine & other) > len(mine) for other in words):
            continue
        chosen[at] = piece
        words.append(mine)
        left -= len(piece) + len(" · ")
    return " · ".join(chosen[at] for at in sorted(chosen)) or "no note says more than a few letters"


def _rank(line: str) -> int:
    plain = _MINOR if "🟢" in line else _SPOKEN if _SPEAKER.match(body(line)) else _OTHER
    return min((rank for mark, rank in _RANKS.items() if mark in line), default=plain)


def _plain(line: str) -> str:
    """What a note says in its first clauses, on one line, that opens no tag of ours and no brackets like a name's."""
    said = _ASIDE.sub("", _SPEAKER.sub("", body(line), count=1)).replace("[", "(").replace("]", ")")
    return escape(" ".join(said.split()))


def _clipped(text: str, most: int) -> str:
    """As many clauses as have room; of the first one as many words."""
    if len(text) <= most:
        return text.rstrip(" .;…")
    ends = [found.start() for found in _CLAUSE.finditer(text, 0, most)]
    if ends and ends[-1] >= _LEAST:
        return text[: ends[-1]]
    return f"{text[: most - 1].rsplit(' ', 1)[0][: most - 1].rstrip(' ,;:–—-')}…" if most > 1 else ""


def _span(observations: Sequence[Observation]) -> tuple[int, int]:
    return min(map(_at, observations)), max(max(own.to, _at(own)) for own in observations)


def _at(own: Observation) -> int:
    return own.from_ or own.to or own.created_at


def _day(ms: int, zone: tzinfo) -> date:
    return datetime.fromtimestamp(min(max(0, ms), _LAST_MS) / 1000, zone).date()
