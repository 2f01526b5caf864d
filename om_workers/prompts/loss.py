"""What a reflection lost of the notes it is to replace: found without a model, by comparing facts and lines.

The loss is that of the worst kind of fact. For each kind: what is missing, each fact weighed by its line (🔴 and ✅ 1, 🟡
one half, 🟢 and the dates above lines less, details six tenths), as a share of all there were, of at least five such facts,
times how bad it is to lose that kind. Of what hard compression, or a target far below the notes, asks to leave out,
less is missing than went. So a loss of 0.1 says: a tenth of what matters of some kind is gone.

Lines marked 🟡 or 🟢 are a kind with a low severity, so that an answer may leave out two thirds of them. The loss is 1 if
an answer keeps nothing, or of five lines or more fewer than a fifth of those that its level and target ask for.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from om_workers.prompts.evidence import Evidence
from om_workers.prompts.facts import Fact, FactKind
from om_workers.prompts.nothing import notes_nothing
from om_workers.prompts.statements import DONE, IMPORTANT, Statement, bodies, statements
from om_workers.prompts.wording import Windows, Wording

_SEVERITY = dict.fromkeys(FactKind, 1.0) | {
    FactKind.NUMBER: 0.9, FactKind.DATE: 0.8, FactKind.PATH: 0.9, FactKind.IDENTIFIER: 0.9, FactKind.LINE: 0.3,
}  # fmt: skip
_MARKED = {FactKind.IMPORTANT, FactKind.DONE}
_WHOLE = _MARKED | {FactKind.LINE}
_WEIGHT = {IMPORTANT: 1.0, DONE: 1.0, 3: 0.5, 1: 0.15}
# whatever the line: nobody can make them up again
_RARE = {FactKind.URL: 0.7, FactKind.PATH: 0.6, FactKind.IDENTIFIER: 0.6}
_HEADER, _NESTED = 0.3, 0.6
_FEWEST = 5.0  # facts of full weight: of fewer, one weighs no more than a fifth
_FEWEST_LINES = 2.0  # the same for lines marked 🟡 or 🟢
_LEAST_LINES, _FEW = 0.2, 5  # of the lines asked for, else the loss is 1; unless there are fewer than five lines
_OLD = 0.6  # of the lines, from the oldest on
_EXPECTED = {3: {True: 0.3, False: 0.7}, 4: {True: 0.0, False: 0.3}}  # of 🟡, old or not, at the hardest levels
_MOST, _LONGEST = 40, 200


class Loss(NamedTuple):
    """`loss` from 0 to 1, what was dropped, the worst first, and how many facts and lines were kept."""

    loss: float
    dropped: tuple[str, ...]
    kept: int


class _Expected(NamedTuple):
    """One thing to find again: a fact, or (`fact.key` is its place) a whole line, and what it weighs."""

    fact: Fact
    weight: float
    line: Statement
    within: bool = False


class Check:
    """Compares answers with the notes they are to replace; `room` is the share of them that the target leaves."""

    def __init__(self, texts: Sequence[str], room: float = 1.0) -> None:
        self._lines = statements(texts)
        self._room = min(1.0, room)
        self._wording = Wording(self._lines)
        self._expected = [*_facts(self._lines), *_whole(self._lines, self._wording)]
        self._totals: dict[FactKind, float] = defaultdict(float)
        for one in self._expected:
            self._totals[one.fact.kind] += one.weight

    def of(self, text: str, level: int) -> Loss:
        """What of the notes is missing in an answer that was asked for at a level of compression."""
        said = list(bodies(text))
        evidence, windows = Evidence(said), Windows(said)
        missing = [one for one in self._expected if not self._has(one, evidence, windows)]
        worth = [(one, one.weight * self._asked(one.line, level)) for one in missing]
        shares: dict[FactKind, float] = defaultdict(float)
        for one, weight in worth:
            kind = one.fact.kind
            fewest = _FEWEST_LINES if kind is FactKind.LINE else _FEWEST
            shares[kind] += weight * _SEVERITY[kind] / max(self._totals[kind], fewest)
        held = len(self._expected) - len(missing)
        nearly_all = bool(missing) and (not held or self._has_too_few_lines(missing, level))
        loss = 1.0 if nearly_all else round(max(shares.values(), default=0.0), 4)
        return Loss(loss, _named(worth), held)

    def _has_too_few_lines(self, missing: Sequence[_Expected], level: int) -> bool:
        """Whether fewer than a fifth of the lines that are asked for are there; of few notes a fact is enough."""
        lines = [one.line for one in self._expected if one.fact.kind in _WHOLE]
        found = len(lines) - sum(one.fact.kind in _WHOLE for one in missing)
        return len(lines) >= _FEW and found < _LEAST_LINES * sum(self._asked(line, level) for line in lines)

    def _asked(self, line: Statement, level: int) -> float:
        """How much of a line is asked to be kept: all of 🔴 and ✅, of others what level and room leave."""
        if line.priority >= DONE:
            return 1.0
        if level not in _EXPECTED:
            return self._room
        share = _EXPECTED[level][line.place < _OLD]
        return min(share, self._room) if line.priority > 1 else 0.0

    def _has(self, one: _Expected, evidence: Evidence, windows: Windows) -> bool:
        if one.fact.kind not in _WHOLE:
            return evidence.has(one.fact, within=one.within)
        return windows.hold(self._wording.weights(one.line))


def _facts(lines: Sequence[Statement]) -> Iterator[_Expected]:
    """Each fact once, where it weighs most."""
    best: dict[tuple[FactKind, str], _Expected] = {}
    for line in lines:
        for fact in line.facts:
            found = _Expected(fact, _weight(line, fact.kind), line, line.header)
            before = best.get(fact[:2])
            if before is None or found.weight > before.weight:
                best[fact[:2]] = found
    return iter(best.values())


def _weight(line: Statement, kind: FactKind) -> float:
    if line.header:
        return _HEADER
    return max(_WEIGHT[line.priority], _RARE.get(kind, 0.0)) * (_NESTED if line.nested else 1.0)


def _whole(lines: Sequence[Statement], wording: Wording) -> Iterator[_Expected]:
    """The lines to find again, each under its place; ordinary ones only where they say something."""
    for at, line in enumerate(lines):
        kind = line.kind
        if kind in _MARKED or (kind and wording.weights(line) and not notes_nothing(line.text)):
            yield _Expected(Fact(kind, str(at), line.text), _WEIGHT[line.priority], line)


def _named(worth: Sequence[tuple[_Expected, float]]) -> tuple[str, ...]:
    """What to tell a model that it dropped, the weightiest first, without the facts of dropped 🔴 and ✅ lines."""
    marked = {id(one.line) for one, _ in worth if one.fact.kind in _MARKED}
    weighed = [(one, weight * _SEVERITY[one.fact.kind]) for one, weight in worth if weight > 0]
    weighed.sort(key=lambda pair: -pair[1])
    named = (one for one, _ in weighed if one.fact.kind in _WHOLE or id(one.line) not in marked)
    return tuple(_told(one) for one in islice(named, _MOST))


def _told(one: _Expected) -> str:
    if one.fact.kind in _WHOLE:
        return f"{one.fact.kind}: {_clipped(one.line.text)}"
    return f"{one.fact.kind} {_clipped(one.fact.shown)} (of: {_clipped(one.line.text)})"


def _clipped(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
