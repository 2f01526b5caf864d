"""Reports: what was measured, as a table to read and as JSON to compare."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import msgspec

from om_workers.bench.page import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from om_workers.bench.quality import Budget, Calibration, Online


class Report(msgspec.Struct):
    """All that `om bench memory` says. Nothing in it depends on the machine, so two runs write the same bytes."""

    talks: int
    questions: int
    calibration: Calibration
    budgets: list[Budget]
    online: list[Online]


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


def _online(runs: Sequence[Online]) -> Iterator[str]:
    rows: list[tuple[str, Callable[[Online], object]]] = [
        ("S of the last context", lambda found: found.supported.percent),
        ("its share of the conversation's tokens", lambda found: f"{found.tokens.percent} %"),
        ("tokens of messages for one of observations", lambda found: f"{mean(found.compression):.1f}"),
        ("prefix share", lambda found: f"{100 * mean(found.prefix_share):.1f} %"),
        ("phi", lambda found: f"{mean(found.phi):.2f}"),
        ("phi with the volatile block", lambda found: f"{mean(found.whole_phi):.2f}"),
        ("phi of a sliding window", lambda found: f"{mean(found.window_phi):.2f}"),
        ("phi of the full history", lambda found: f"{mean(found.history_phi):.2f}"),
    ]
    head = ["message by message", *(", ".join(found.settings) or "defaults" for found in runs)]
    yield from table(head, [[name, *(of(found) for found in runs)] for name, of in rows])
