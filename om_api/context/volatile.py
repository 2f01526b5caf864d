"""The one block that changes from day to day and turn to turn, so it comes last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from om_api.context.excerpts import excerpts
from om_api.context.signature import Signer
from om_api.context.view import Block, View
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.values import ThreadState

_UNAVAILABLE = "Your long-term memory could not be reached just now; what you see may lack earlier knowledge."


class Moment(NamedTuple):
    """What the last block is made of: `others` and `counts` as in the snapshot, `aged` the lines on dates (None: no memory)."""

    thread: ThreadState
    others: Mapping[str, list[Message]]
    counts: Mapping[str, int]
    aged: Sequence[str] | None
    view: View
    today: date
    unavailable: bool
    signer: Signer


def volatile_blocks(moment: Moment, count: Callable[[str], int]) -> list[Block]:
    """Today's date, the ages of dates in the memory, the task, and what other threads are at: one block.

    [] when there is neither memory, nor a task, nor an excerpt, nor trouble to report.
    """
    others = excerpts(moment.others, moment.counts, moment.view, count)
    said = [*([_UNAVAILABLE] if moment.unavailable else []), *_task(moment.thread), *others.sections]
    if moment.aged is None and not said:
        return []
    today = f"Today is {_day(moment.today)} ({moment.view.timezone})."
    lines = filter(None, [today, *(moment.aged or ()), *said, others.rest])
    text = moment.signer.framed("system-reminder", "\n".join(lines))
    return [Block(kind="volatile", role="user", text=text, stable=False, tokens=count(text))]


def _day(today: date) -> str:
    return f"{today:%A, %B} {today.day}, {today.year}"


def _task(thread: ThreadState) -> list[str]:
    named = (("current-task", thread.current_task), ("suggested-response", thread.suggested_response))
    return [f"<{tag}>\n{escape(text.strip())}\n</{tag}>" for tag, text in named if text.strip()]
