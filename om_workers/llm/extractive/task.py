"""The open task: what the user asked for last and nobody has visibly finished, and what to say next."""

from __future__ import annotations

from collections.abc import Sequence

from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.language.telegraphic import clip, telegraphic
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.units import Unit

_LONGEST = 120
_PROMISE = ("i'll", "i will", "on it", "let me", "looking", "working", "one moment", "sure", "adding", "changing")


def ending(messages: Sequence[Message], found: Sequence[Unit]) -> str:
    """The current-task and suggested-response blocks, or '' when nothing is open."""
    if not (request := _open(found)):
        return ""
    primary = escape(clip(telegraphic(request.text), _LONGEST))
    lines = ["<current-task>", f"Primary: {primary}", "</current-task>"]
    if hint := _hint(messages, found, request):
        lines += ["<suggested-response>", escape(hint), "</suggested-response>"]
    return "\n".join(lines)


def _open(found: Sequence[Unit]) -> Unit | None:
    """The last request of the user that nothing after it completes or answers."""
    for place in range(len(found) - 1, -1, -1):
        unit = found[place]
        if unit.role == "user" and not (unit.pasted or unit.speaker) and cues.asked(unit.text, unit.words):
            return None if any(_settles(later, unit) for later in found[place + 1 :]) else unit
    return None


def _settles(later: Unit, request: Unit) -> bool:
    """Whether a later unit finishes an order, or answers a question rather than promising to."""
    if later.role == "user" or later.failed or later.order == request.order:
        return False
    if later.role == "tool" or not request.cues.asks:
        return later.cues.done
    return not later.cues.asks and not later.text.lower().startswith(_PROMISE)


def _hint(messages: Sequence[Message], found: Sequence[Unit], request: Unit) -> str:
    failed = [unit for unit in found if unit.failed and unit.order > request.order]
    if failed:
        return f"Say that {failed[-1].label or 'it'} failed, and propose what to do."
    if messages and messages[-1].role == "assistant" and messages[-1].text().rstrip().endswith("?"):
        return "Wait for the user's answer."
    return ""
