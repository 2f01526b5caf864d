"""Whether facts are still there: what a text holds, looked up by what it means and not by how it is written."""

from collections import defaultdict
from collections.abc import Sequence

from om_api.language.calendar import CoveredDays, Day, days, spans
from om_api.language.words import NUMBERS, bare_words, holds_word
from om_api.patterns.pattern import Pattern
from om_workers.prompts.facts import FILE, Fact, FactKind, facts

_TOKEN = Pattern(r"\w+")


class Evidence:
    """What a text holds, to tell whether facts are still in it."""

    def __init__(self, lines: Sequence[str]) -> None:
        whole = "\n".join(lines)
        self._text = whole.lower().replace("\\", "/")
        self._tokens = set(_TOKEN.findall(self._text))
        self._words = set(bare_words(whole))
        self._keys: dict[FactKind, set[str]] = defaultdict(set)
        self._units: dict[str, set[str]] = defaultdict(set)
        for fact in (fact for line in lines for fact in facts(line)):
            self._keys[fact.kind].add(fact.key)
            if fact.kind is FactKind.NUMBER:
                value, _, unit = fact.key.partition(" ")
                self._units[value].add(unit)
        self._days: dict[tuple[int, int], set[int]] = defaultdict(set)
        for day in days(whole):
            self._days[day[1:]].add(day.year)
        self._spans = CoveredDays({span for line in lines for span in spans(line)})

    def has(self, fact: Fact, *, within: bool = False) -> bool:
        """Whether a fact is there, however it is written now; `within`: a span that holds a date will do."""
        if fact.kind is FactKind.DATE:
            return self._dated(fact.key, within=within)
        if fact.key in self._keys[fact.kind]:
            return True
        if fact.kind is FactKind.NAME:
            return all(part in self._words or f"{part}s" in self._words for part in fact.key.split("-"))
        if fact.kind is FactKind.NUMBER:
            return self._counted(fact.key)
        return self._located(fact.key) if fact.kind is FactKind.PATH else self._said(fact.key)

    def _dated(self, key: str, *, within: bool) -> bool:
        day = Day(*map(int, key.split("-")))
        if not day.day:
            return any(month == day.month for month, _ in self._days)
        years = self._days.get(day[1:], set())
        return (bool(years) and (not day.year or bool({0, day.year} & years))) or (within and self._spans.hold(day))

    def _said(self, key: str) -> bool:
        """The very letters, not as a part of a longer word."""
        tokens = _TOKEN.findall(key)
        if tokens == [key]:
            return key in self._tokens
        return self._tokens.issuperset(tokens) and holds_word(self._text, key)

    def _counted(self, key: str) -> bool:
        """The same number: with the same unit, or with one of the two left out."""
        value, _, unit = key.partition(" ")
        found = self._units.get(value)
        if found is None:
            return any(NUMBERS[word] == value for word in self._words & NUMBERS.keys())
        return not unit or unit in found or "" in found

    def _located(self, key: str) -> bool:
        """A path's end will do if it names a file, or a folder in its folder."""
        parts = key.split("/")
        least = 1 if FILE.search(key) else 2
        return self._said("/".join(parts[-least:]))  # where a longer end is, this one is
