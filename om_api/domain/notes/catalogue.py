"""The catalogue of what was set aside: headings of groups in a generation's text, behind what else that says.

One line begins it. The headings of a pool stand in their threads' sections, so that they go and move with them; older ones are
one line for a month, a year, or all of them, which says nothing of anybody.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from om_api.domain.notes.groups import ALL, NAME, PERIOD, DatedNotes
from om_api.domain.thread_sections import runs, section

INTRO = "Older notes were set aside word for word, in groups; recall reads one by the name in brackets (group):"
_HEADING = re.compile(rf"\* (\d{{4}}-\d\d)-\d\d(?: to \d{{4}}-\d\d-\d\d)? \[({NAME.pattern})\] .*")
_COARSE = re.compile(rf"\* [^\[\]]{{1,60}} \[({PERIOD.pattern}|{ALL})\] (\d{{1,9}}) groups?")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class CatalogueLine(NamedTuple):
    """A line of a catalogue: the heading of one group of a thread, or how many there are in a period, which `name` says."""

    name: str
    month: str
    thread: str
    line: str
    groups: int = 1

    @property
    def coarse(self) -> bool:
        """Whether it stands for all groups of a period."""
        return NAME.fullmatch(self.name) is None


class Catalogued(NamedTuple):
    """A generation's text in two: what else it says, in its own order (with the thread of each run of lines), and entries."""

    rest: tuple[tuple[str, tuple[str, ...]], ...]
    entries: tuple[CatalogueLine, ...]

    @classmethod
    def of(cls, text: str, *, pooled: bool) -> "Catalogued":
        """A text taken apart. Only what stands behind the catalogue's first line is an entry: any other line is kept."""
        rest, entries, begun = list[tuple[str, tuple[str, ...]]](), list[CatalogueLine](), False
        lines = text.split("\n") if text else []
        for thread, some in runs(lines) if pooled else [("", lines)]:
            here, kept = begun, list[str]()
            for line in some:
                if line == INTRO:
                    here = True
                elif here and (entry := _entry(line, thread)):
                    entries.append(entry)
                else:
                    kept.append(line)
            begun = begun or (here and not thread)
            if any(line.strip() for line in kept):
                rest.append((thread, tuple(kept)))
        return cls(tuple(rest), tuple(entries))

    @property
    def groups(self) -> int:
        """Of how many groups it tells."""
        return sum(entry.groups for entry in self.entries)

    def without_entries(self) -> str:
        """What else the text says."""
        return "\n".join(line for thread, some in self.rest for line in _written(thread, some))

    def text(self) -> str:
        """The whole text: the catalogue comes last."""
        return "\n".join(filter(None, [self.without_entries(), written(self.entries)]))

    def and_also(self, made: Iterable[DatedNotes], *, pooled: bool) -> "Catalogued":
        """The same, and more groups behind those that there are."""
        new = (
            CatalogueLine(
                each.name,
                f"{each.first:%Y-%m}",
                each.observations[0].thread_id if pooled else "",
                each.heading(each.name),
            )
            for each in made
            if each.notes
        )
        return self._replace(entries=(*self.entries, *new))

    def within(self, most: int, count: Callable[[str], int]) -> "Catalogued":
        """The same with a catalogue of at most so many tokens: the oldest headings become months, these years, these one line."""
        entries = _joined(self.entries)
        while [entry.name for entry in entries] != [ALL] and count(written(entries)) > most:
            entries = _coarser(entries)
        return self._replace(entries=tuple(entries))


def group_named(line: str) -> str:
    """The name of the group that a line is the heading of; "" for any other line."""
    found = _HEADING.fullmatch(line)
    return found[2] if found else ""


def says_nothing(line: str) -> bool:
    """Whether a line is one of a catalogue's own, of which no word is anybody's: its first, or one of a period."""
    entry = _entry(line, "")
    return line == INTRO or (entry is not None and entry.coarse and entry.line == line)


def written(entries: Sequence[CatalogueLine]) -> str:
    """A catalogue as text: periods first, then headings, of a pool in their threads' sections; "" without entries."""
    if not entries:
        return ""
    lines = [INTRO, *(entry.line for entry in entries if entry.coarse)]
    threads: dict[str, list[str]] = {}
    for entry in entries:
        if not entry.coarse:
            threads.setdefault(entry.thread, []).append(entry.line)
    return "\n".join([*lines, *(line for thread, some in threads.items() for line in _written(thread, some))])


def _written(thread: str, lines: Sequence[str]) -> Sequence[str]:
    return section(thread, lines) if thread else lines


def _entry(line: str, thread: str) -> CatalogueLine | None:
    if found := _HEADING.fullmatch(line):
        return CatalogueLine(found[2], found[1], thread, line)
    if found := _COARSE.fullmatch(line):
        return _period(found[1], int(found[2]))
    return None


def _period(name: str, groups: int) -> CatalogueLine:
    """The line of a month, of a year, or of all."""
    year, _, month = name.partition("-")
    number = int(month or 0)
    called = (
        f"{_MONTHS[number - 1]} {year}" if 1 <= number <= len(_MONTHS) else "Everything older" if name == ALL else year
    )
    return CatalogueLine(name, name, "", f"* {called} [{name}] {groups} group{'s' * (groups != 1)}", groups)


def _joined(given: Iterable[CatalogueLine]) -> list[CatalogueLine]:
    """Periods, each once and by time, then headings in their order."""
    entries, coarse = list(given), dict[str, int]()
    for entry in entries:
        if entry.coarse:
            coarse[entry.name] = coarse.get(entry.name, 0) + entry.groups
    periods = sorted(coarse, key=lambda name: "" if name == ALL else name)
    return [*(_period(name, coarse[name]) for name in periods), *(entry for entry in entries if not entry.coarse)]


def _coarser(entries: Sequence[CatalogueLine]) -> list[CatalogueLine]:
    """The same in fewer words: the oldest heading joins its month; without headings the oldest month its year, then all."""
    for of_level, into in (
        (lambda entry: not entry.coarse, lambda entry: entry.month),
        (lambda entry: "-" in entry.name, lambda entry: entry.name[:4]),
        (lambda entry: entry.name != ALL, lambda _: ALL),
    ):
        if some := list(filter(of_level, entries)):
            oldest = min(some, key=lambda entry: entry.line[2:12] if not entry.coarse else entry.name)
            return _joined(_period(into(oldest), oldest.groups) if entry is oldest else entry for entry in entries)
    return list(entries)
