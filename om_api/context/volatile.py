"""The one block that changes from day to day and turn to turn, so it comes last."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from om_api.context.ages import ages
from om_api.context.block import Block
from om_api.context.excerpts import excerpts
from om_api.tags import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from om_api.context.view import View
    from om_api.values import Snapshot, ThreadState

_UNAVAILABLE = "Your long-term memory could not be reached just now; what you see may lack earlier knowledge."


def volatile_blocks(
    snapshot: Snapshot, dated: Sequence[str], view: View, count: Callable[[str], int], now_ms: int, *, unavailable: bool
) -> list[Block]:
    """Today's date, the ages of dates in the texts of `dated`, the task, and what other threads are at: one block.

    [] when there is neither memory (`dated`), nor a task, nor an excerpt, nor trouble to report.
    """
    others = excerpts(snapshot.others, snapshot.other_counts, view, count)
    said = [*([_UNAVAILABLE] if unavailable else []), *_task(snapshot.thread), *others.sections]
    if not (dated or said):
        return []
    today = datetime.fromtimestamp(now_ms / 1000, view.zone).date()
    lines = [f"Today is {_day(today)} ({view.timezone}).", *ages(dated, today), *said, others.rest]
    text = "\n".join(["<system-reminder>", *filter(None, lines), "</system-reminder>"])
    return [Block(kind="volatile", role="user", text=text, stable=False, tokens=count(text))]


def _day(today: date) -> str:
    return f"{today:%A, %B} {today.day}, {today.year}"


def _task(thread: ThreadState) -> list[str]:
    named = (("current-task", thread.current_task), ("suggested-response", thread.suggested_response))
    return [f"<{tag}>\n{escape(text.strip())}\n</{tag}>" for tag, text in named if text.strip()]
