"""The one block that changes from day to day and turn to turn, so it comes last."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from om_api.context.composed import News
from om_api.context.days import spelled
from om_api.context.excerpts import excerpts
from om_api.context.signature import Signer
from om_api.context.stable import LOOKUP, from_of
from om_api.context.view import Block, View
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.language.spans import Span, phrase

_UNAVAILABLE = "Your long-term memory could not be reached just now; what you see may lack earlier knowledge."


class CurrentTask(NamedTuple):
    """What the Observer last said of a thread that still holds; `noted` is the day of the task, where it should be said."""

    current: str = ""
    suggested: str = ""
    noted: date | None = None


class Moment(NamedTuple):
    """What the last block is made of: `others` and `counts` as in the snapshot, `aged` the lines on dates (None: no memory).

    `news` are other memories' notes that came since the own last activation.

    `omitted` is how many of the thread's own messages have no room, where that is to be said; `kept` what of the working memory
    changed since it was shown, `recalled` what was looked up, `added` what hooks have stand here. `retracted` and
    `valid_again` are quotes of the thread's messages.
    """

    task: CurrentTask
    others: Mapping[str, list[Message]]
    counts: Mapping[str, int]
    aged: Sequence[str] | None
    view: View
    today: date
    unavailable: bool
    omitted: int
    signer: Signer
    kept: str = ""
    recalled: str = ""
    news: Sequence[News] = ()
    added: str = ""
    retracted: Sequence[str] = ()
    valid_again: Sequence[str] = ()


def volatile_blocks(moment: Moment, count: Callable[[str], int]) -> list[Block]:
    """Today's date, what has no room, the ages of dates in the memory, the task, and what other threads are at: one block.

    [] when there is neither memory, nor a task, nor an excerpt, nor trouble to report.
    """
    others = excerpts(moment.others, moment.counts, moment.view, count)
    told = [*([_UNAVAILABLE] if moment.unavailable else []), *_omitted(moment.omitted)]
    told += [LOOKUP] if moment.aged is None and moment.counts else []  # a preamble says it, once there is one
    told += _quoted("Retracted in this conversation, no longer valid", moment.retracted)
    told += _quoted("Valid again in this conversation", moment.valid_again)
    said = [*told, *_task(moment.task, moment.today), moment.kept, *map(_news, moment.news), *_added(moment.added)]
    said += others.sections
    said = [*filter(None, said)]
    if moment.aged is None and not said and not moment.recalled:
        return []
    today = f"Today is {spelled(moment.today)} ({moment.view.timezone})."
    lines = filter(None, [today, *(moment.aged or ()), *said, others.rest, moment.recalled])
    text = moment.signer.framed("system-reminder", "\n".join(lines))
    return [Block(kind="volatile", role="user", text=text, stable=False, tokens=count(text))]


def _quoted(what: str, quotes: Sequence[str]) -> list[str]:
    return ["\n".join([f"{what}:", *(f"- {escape(quote)}" for quote in quotes)])] if quotes else []


def _added(text: str) -> list[str]:
    """What the agent's own system says, and that it does."""
    return [f"The system that you are part of adds:\n{escape(text)}"] if text else []


def _news(news: News) -> str:
    """What another memory noted since, and how much of it has no room."""
    text = escape("\n".join(each.text for each in news.observations))
    lacking = [f"{news.left_out:,} older observations"] if news.left_out else []
    lacking += [f"{news.cut:,} older lines of its reflection"] if news.cut else []
    rest = [f"({' and '.join(lacking)} had no room here: recall finds what was said.)"] if lacking else []
    if not (text or rest):
        return ""
    return "\n".join([f"<composed{from_of(news.resource)}>", *([text] if text else ()), *rest, "</composed>"])


def _omitted(number: int) -> list[str]:
    """Where messages are that have no room: the Actor has no other way to know that there are any."""
    if not number:
        return []
    were, kept = ("message stands", "It is") if number == 1 else ("messages stand", "They are")
    where = f"{number:,} {were} between your notes and the first message above, and had no room here."
    return [
        f"{where} {kept} kept in your memory, to be summarised into your notes; until then do not guess what was said there."
    ]


def _task(task: CurrentTask, today: date) -> list[str]:
    noted = f' noted="{phrase(Span(task.noted, task.noted), today)}"' if task.noted and task.noted <= today else ""
    named = (("current-task", noted, task.current), ("suggested-response", "", task.suggested))
    return [f"<{tag}{about}>\n{escape(text.strip())}\n</{tag}>" for tag, about, text in named if text.strip()]
