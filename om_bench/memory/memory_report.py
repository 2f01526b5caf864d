"""Reports: what was measured, as a table to read and as JSON to compare."""

from collections.abc import Callable, Iterator, Sequence
from statistics import mean

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.tokens import counter
from om_bench.harness import pictures
from om_bench.harness.page import table
from om_bench.harness.talks import Talk
from om_bench.memory.budgets import (
    OF_RECALL,
    BudgetScores,
    Calibration,
    Judged,
    at_budget,
    calibrate,
    compare,
    evidence_recall,
)
from om_bench.memory.lookup import AROUND, FIRST, EvidenceRecall
from om_bench.memory.quality import Online, online

_ROLES = ("user", "assistant", "tool")
_BOTH, _UNASKED, _FIXED = "notes and recall", "notes, recall unasked", f"notes, {OF_RECALL:.0%} recall"


class MemoryReport(msgspec.Struct):
    """All that `om bench memory` says. Nothing in it depends on the machine, so two runs write the same bytes."""

    talks: int
    questions: int
    calibration: Calibration
    recall: EvidenceRecall
    budgets: list[BudgetScores]
    online: list[Online]


def measure(
    talks: Sequence[Talk], budgets: Sequence[float], runs: Sequence[tuple[str, ...]], url: str | None
) -> MemoryReport:
    """All figures of some talks; message by message once with each of `runs`, which are settings ("name=value").

    Raises InvalidInputError where none of the questions can be judged, SettingsError and StoreError.
    """
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInputError("none of the questions has an answer and evidence: there is nothing to measure")
    count = counter()
    asked = sum(len(talk.questions) for talk in talks)
    judged = [Judged(talk, count) for talk in talks]
    at = [compare(judged, at_budget(judged, each)) for each in budgets]
    found = calibrate(talks, count), evidence_recall(judged), at
    return MemoryReport(len(talks), asked, *found, [online(talks, count, run, url) for run in runs])


def as_lines(report: MemoryReport) -> Iterator[str]:
    """The figures as Markdown, which reads well on a terminal too."""
    found = report.calibration
    yield f"{report.talks} conversations, {report.questions} questions with an answer and evidence for it."
    yield from table(["calibration", "S"], [
        ["the whole conversation", found.full.shown], ["half of its turns, at random", found.half.shown],
        ["another conversation", found.wrong.shown],
    ])  # fmt: skip
    yield from _evidence(report.recall)
    if report.budgets:
        yield from _budgets(report.budgets)
        yield from _by_role(report.budgets)
    if report.online:
        yield from _online(report.online)


def _budgets(budgets: Sequence[BudgetScores]) -> Iterator[str]:
    yield from table(["S at", "notes", _BOTH, _UNASKED, _FIXED, "newest turns", "random turns", "BM25 per question"], [
        [
            f"{each.share:.0%}", each.extractive.all.shown, each.recalled.all.shown, each.unasked.all.shown,
            each.fixed.all.shown, each.last.shown, each.random.shown, each.bm25.shown,
        ] for each in budgets
    ])  # fmt: skip
    yield from table(["notes at", "budget used", "pairs kept", "across joints", "longest line", "explicit dates"], [
        [
            f"{each.share:.0%}", f"{each.used.shown} %", f"{each.pairs.within.shown} %", f"{each.pairs.across.shown} %",
            f"{each.pairs.longest} words", each.dates.shown,
        ] for each in budgets
    ])  # fmt: skip


def _by_role(budgets: Sequence[BudgetScores]) -> Iterator[str]:
    """Whose words the evidence was; nothing where all of it was one's."""
    roles = [role for role in _ROLES if any(role in each.extractive.roles for each in budgets)]
    if len(roles) > 1:
        yield from table(["S by whose words", *(f"{what}: {role}" for what in ("notes", _BOTH) for role in roles)], [
            [f"{each.share:.0%}", *(found.of(role) for found in (each.extractive, each.recalled) for role in roles)]
            for each in budgets
        ])  # fmt: skip


def _evidence(found: EvidenceRecall) -> Iterator[str]:
    yield from table(["evidence found by recall", "%"], [
        [f"among the first {FIRST} hits", found.hits.percent],
        [f"the same with {AROUND} turn before and after each", found.around.percent],
    ])  # fmt: skip


def _online(runs: Sequence[Online]) -> Iterator[str]:
    rows: list[tuple[str, Callable[[Online], object]]] = [
        ("S of the last context", lambda found: found.supported.shown),
        ("its share of the conversation's tokens", lambda found: f"{found.tokens.percent} %"),
        ("explicit dates", lambda found: found.dates.shown),
        (
            "tokens of messages for one of observations",
            lambda found: f"{mean(found.compression):.1f}" if any(found.compression) else "-",
        ),
        ("prefix share", lambda found: f"{100 * mean(found.prefix_share):.1f} %"),
        ("phi", lambda found: f"{mean(found.phi):.2f}"),
        ("phi with the volatile block", lambda found: f"{mean(found.whole_phi):.2f}"),
        ("phi of a sliding window", lambda found: f"{mean(found.window_phi):.2f}"),
        ("phi of the full history", lambda found: f"{mean(found.history_phi):.2f}"),
    ]
    head = ["message by message", *(", ".join(found.settings) or "defaults" for found in runs)]
    yield from table(head, [[name, *(of(found) for found in runs)] for name, of in rows])


def by_budget(budgets: Sequence[BudgetScores]) -> pictures.Picture:
    """S by the share of a conversation's tokens that a context may have, for every kind of context."""
    kinds = {
        "extractive observer": [each.extractive.all.percent for each in budgets],
        "extractive observer and recall": [each.recalled.all.percent for each in budgets],
        "BM25, asked per question": [each.bm25.percent for each in budgets],
        "newest turns": [each.last.percent for each in budgets],
        "random turns": [each.random.percent for each in budgets],
    }
    shares = [100 * each.share for each in budgets]
    return pictures.lines(
        kinds, shares, ("share of the conversation's tokens, %", "S: questions whose evidence it holds, %")
    )
