"""Reports: what was measured, as a table to read and as JSON to compare."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import msgspec

from om_workers.bench.page import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from om_workers.bench.quality import Budget, Calibration, Online


class Report(msgspec.Struct):
    """All that `om bench memory` says. Nothing in it depends on the machine, so two runs write the same bytes."""

    talks: int
    questions: int
    calibration: Calibration
    budgets: list[Budget]
    online: Online | None = None


def as_json(report: Report) -> str:
    """The figures as JSON; shares are in percent beside what they were made of."""
    return msgspec.json.format(msgspec.json.encode(msgspec.to_builtins(report)), indent=2).decode()


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
        yield from table(["share of the tokens", "extractive", "newest turns", "random turns", "BM25 per question"], [
            [f"{each.share:.0%}", each.extractive.percent, each.last.percent, each.random.percent, each.bm25.percent]
            for each in report.budgets
        ])  # fmt: skip
    if report.online:
        yield from _online(report.online)


def _online(found: Online) -> Iterator[str]:
    yield from table(["message by message", "figure"], [
        ["S of the last context", found.supported.percent],
        ["its share of the conversation's tokens", f"{found.tokens.percent} %"],
        ["tokens of messages for one of observations", round(mean(found.compression), 1)],
        ["prefix share", f"{100 * mean(found.prefix_share):.1f} %"],
        ["phi", round(mean(found.phi), 2)],
        ["phi with the volatile block", round(mean(found.whole_phi), 2)],
        ["phi of a sliding window", round(mean(found.window_phi), 2)],
        ["phi of the full history", round(mean(found.history_phi), 2)],
    ])  # fmt: skip
