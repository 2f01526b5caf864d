"""Reports: what was measured, as a table to read and as JSON to compare."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import msgspec

from om_api.errors import InvalidInputError
from om_api.tokens import counter
from om_workers.bench.page import table
from om_workers.bench.quality import Budget, Calibration, Online, at_budget, calibrate, online

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from om_workers.bench.talks import Talk


class Report(msgspec.Struct):
    """All that `om bench memory` says. Nothing in it depends on the machine, so two runs write the same bytes."""

    talks: int
    questions: int
    calibration: Calibration
    budgets: list[Budget]
    online: list[Online]


def measure(
    talks: Sequence[Talk], budgets: Sequence[float], runs: Sequence[tuple[str, ...]], url: str | None
) -> Report:
    """All figures of some talks; message by message once with each of `runs`, which are settings ("name=value").

    Raises InvalidInputError where none of the questions can be judged, SettingsError and StoreError.
    """
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInputError("none of the questions has an answer and evidence: there is nothing to measure")
    count = counter()
    asked = sum(len(talk.questions) for talk in talks)
    at = [at_budget(talks, each, count) for each in budgets]
    return Report(len(talks), asked, calibrate(talks, count), at, [online(talks, count, run, url) for run in runs])


def as_table(report: Report) -> str:
    """The figures as Markdown, which reads well on a terminal too."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    found = report.calibration
    yield f"{report.talks} conversations, {report.questions} questions with an answer and evidence for it."
    yield from table(["calibration", "S"], [
        ["the whole conversation", found.full.percent], ["half of its turns, at random", found.half.percent],
        ["another conversation", found.wrong.percent if found.wrong.of else "-"],
    ])  # fmt: skip
    if report.budgets:
        yield from _budgets(report.budgets)
    if report.online:
        yield from _online(report.online)


def _budgets(budgets: Sequence[Budget]) -> Iterator[str]:
    head = ["share of the tokens", "extractive", "newest turns", "random turns", "BM25 per question"]
    yield from table([*head, "explicit dates"], [
        [
            f"{each.share:.0%}", each.extractive.percent, each.last.percent, each.random.percent, each.bm25.percent,
            each.dates.percent,
        ] for each in budgets
    ])  # fmt: skip


def _online(runs: Sequence[Online]) -> Iterator[str]:
    rows: list[tuple[str, Callable[[Online], object]]] = [
        ("S of the last context", lambda found: found.supported.percent),
        ("its share of the conversation's tokens", lambda found: f"{found.tokens.percent} %"),
        ("explicit dates", lambda found: found.dates.percent),
        ("tokens of messages for one of observations", lambda found: f"{mean(found.compression):.1f}"),
        ("prefix share", lambda found: f"{100 * mean(found.prefix_share):.1f} %"),
        ("phi", lambda found: f"{mean(found.phi):.2f}"),
        ("phi with the volatile block", lambda found: f"{mean(found.whole_phi):.2f}"),
        ("phi of a sliding window", lambda found: f"{mean(found.window_phi):.2f}"),
        ("phi of the full history", lambda found: f"{mean(found.history_phi):.2f}"),
    ]
    head = ["message by message", *(", ".join(found.settings) or "defaults" for found in runs)]
    yield from table(head, [[name, *(of(found) for found in runs)] for name, of in rows])
