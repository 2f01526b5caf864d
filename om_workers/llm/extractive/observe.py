"""Observing: the sentences of a conversation that are worth a note, within a budget."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.language.calendar import LocalTime
from om_api.language.relative_dates import meanings
from om_api.language.telegraphic import clip, telegraphic, without_lead
from om_api.language.words import STOP, words
from om_api.patterns.pattern import Pattern
from om_workers.llm.base import Request
from om_workers.llm.extractive import cues, extracting, notes, scoring
from om_workers.llm.extractive.choosing import Chooser, filled
from om_workers.llm.extractive.joining import Pick, in_order, joined
from om_workers.llm.extractive.notes import counted, size_of, tokens
from om_workers.llm.extractive.terms import is_beyond_latin
from om_workers.llm.extractive.units import ORDERS, PASTED, Unit, is_task, units

LEAST = 80  # tokens an answer may always have, however short the conversation
_LEAST_BEYOND_LATIN = 120  # where a token is fewer letters
_OF_TALK, _OF_ANSWERS, _OF_DATA = 5, 10, 10  # how many tokens become one, where nobody said how many are wanted
_SEAMS = 2  # texts that are joined may be a token or two more than they are apart
_TIME = 4  # tokens of a time of day, at least
_LONGEST = 120  # characters of a task
_SENTENCE = 300  # characters of one sentence
_READ = (
    100_000  # characters of one text at its beginning and at its end: a message takes bounded work, however long it is
)
_END = Pattern(r"[.!?。！？]*[\"”)]?$")
_NONE = "<current-task>\nnone\n</current-task>\n<suggested-response>\nnone\n</suggested-response>"
_HEADING = frozenset({"primary", "secondary"})
_PROMISE = ("i'll", "i will", "on it", "let me", "looking", "working", "one moment", "sure", "adding", "changing")


def observe(request: Request) -> str:
    """The observations of a request's messages in our tag format; an empty block when nothing is worth noting."""
    if request.threads:
        return _by_thread(request)
    block, ending = _answer(request, request.messages, request.target_tokens, request.task, "")
    return "\n".join(filter(None, ["<observations>", block, "</observations>", ending]))


def _by_thread(request: Request) -> str:
    """An answer for each thread, in a section of its own; of the size wanted each has as much as it has to tell."""
    sizes = {name: size_of(messages) for name, messages in request.threads.items()}
    share = request.target_tokens / max(1, sum(sizes.values()))
    lines = ["<observations>"]
    for name, messages in request.threads.items():
        answer = _answer(request, messages, math.ceil(share * sizes[name]), request.tasks.get(name, ""), name)
        lines += [f'<thread id="{name}">', *filter(None, answer), "</thread>"]
    return "\n".join([*lines, "</observations>"])


def _answer(request: Request, messages: Iterable[Message], wanted: int, task: str, thread: str) -> tuple[str, str]:
    """The notes of messages and the sections that follow them, together in `wanted` tokens (0: notes as they are worth).

    What extractors want comes on top of these.
    """
    messages = sorted(map(_excerpt, messages), key=lambda message: message.at)
    found = units(messages)
    ending = _ending(messages, found, task)
    if wanted:
        room = wanted - counted(ending) - counted(notes.FRAME) - _SEAMS
    else:
        least = _LEAST_BEYOND_LATIN if any(is_beyond_latin(unit.text) for unit in found) else LEAST
        room = max(least, sum(map(_worth, messages)))
    clock = LocalTime(request.timezone)
    chooser = _chooser(found, clock, terse=request.style == "terse")
    if any(unit.bounded for unit in found):
        chooser.pasted = room * _pasted(messages)
    noted = _noted(chooser, room, clock)
    if (
        not wanted
        and room == LEAST
        and counted(noted) > (size := sum(count_message(each, counted) for each in messages))
    ):
        noted = _noted_briefly(found, size, clock) or noted
    further = extracting.sections(request.extractors, request.kept.get(thread, {}), found, clock)
    return noted, "\n".join([*filter(None, [ending]), *further])


def _excerpt(message: Message) -> Message:
    """A message without the middle of its long texts."""
    content: Any = message.content
    if isinstance(content, str):
        read = _ends(content)
    else:
        read = [{name: _ends(value) for name, value in part.items()} for part in content]
    return message if read == content else msgspec.structs.replace(message, content=read)


def _ends(value: Any) -> Any:
    is_long = isinstance(value, str) and len(value) > 2 * _READ
    return f"{value[:_READ]}\n{value[-_READ:]}" if is_long else value


def _pasted(messages: Sequence[Message]) -> float:
    """The share of a room that may go to pasted text: that of what such text is worth."""
    worth = [
        (_worth(message), message.role != "assistant" and _is_pasted(message, count_message(message, tokens)))
        for message in messages
    ]
    return sum(size for size, pasted in worth if pasted) / max(1, sum(size for size, _ in worth))


def _chooser(found: Sequence[Unit], clock: LocalTime, *, terse: bool) -> Chooser:
    short = telegraphic if terse else without_lead
    texts = [clip(unit.text if unit.label else short(unit.text), _SENTENCE) for unit in found]
    factors = [scoring.bonus(unit.cues, unit.role) * scoring.standing(unit) for unit in found]
    return Chooser(
        found,
        texts,
        factors,
        heading=lambda unit: clock.day(unit.at),
        written=lambda unit, text: _dated(text, clock.at(unit.at).date()),
    )


def _dated(text: str, day: date) -> str:
    """A sentence with what its relative dates mean, two at most; the year that it is dated with goes without saying."""
    notes = [*dict.fromkeys(note.removesuffix(f", {day.year}") for note in meanings(text, day))]
    end = _END.search(text)
    return f"{text[: end.start()]} (meaning {', '.join(notes[:2])}){end[0]}" if notes and end else text


def _noted(chooser: Chooser, room: int, clock: LocalTime) -> str:
    """The notes that fit into `room` tokens; times of day are told where they have room beside all that is worth a note."""
    picks, text = filled(chooser, room, lambda picks: _written(picks, clock))
    if counted(text) + _TIME * text.count("\n") > room:
        return text
    timed = _written(picks, clock, timed=True)
    return timed if counted(timed) <= room else text


def _noted_briefly(found: Sequence[Unit], size: int, clock: LocalTime) -> str:
    """The notes of a few short messages in `size` tokens: without times of day, else in short, else with what fits.

    "" where they would lose anything of less than half of LEAST tokens: the date line alone takes HEADER of these.
    """
    for terse, room in ((False, LEAST), (True, LEAST), (True, size)):
        picks, text = filled(_chooser(found, clock, terse=terse), room, lambda picks: _written(picks, clock))
        whole = len(picks) == len(found)
        if counted(text) <= size and (whole or (room == size and 2 * size >= LEAST)):
            return text
    return ""


def _written(picks: Sequence[Pick], clock: LocalTime, *, timed: bool = False) -> str:
    return notes.write(joined(in_order(picks), clock, timed=timed))


def _worth(message: Message) -> int:
    """The tokens that notes of a message may have: a fifth of what is short and so says much, less of all else."""
    size = count_message(message, tokens)
    if _is_pasted(message, size):
        return size // _OF_DATA
    return size // (_OF_ANSWERS if message.role == "assistant" else _OF_TALK)


def _is_pasted(message: Message, size: int) -> bool:
    return size > PASTED and not is_task(message)


def _ending(messages: Sequence[Message], found: Sequence[Unit], task: str) -> str:
    """The current-task and suggested-response blocks: `none` when the task before is done, '' when nothing is said of it."""
    if not (request := _open(found)):
        return _NONE if task and _finished(found, task) else ""
    primary = escape(clip(without_lead(request.text), _LONGEST))
    lines = ["<current-task>", f"Primary: {primary}", "</current-task>"]
    if hint := _hint(messages, found, request):
        lines += ["<suggested-response>", escape(hint), "</suggested-response>"]
    return "\n".join(lines)


def _open(found: Sequence[Unit]) -> Unit | None:
    """The last request of the user that nothing after it completes or answers."""
    for place in range(len(found) - 1, -1, -1):
        if _requests(unit := found[place]):
            if any(_settles(later, unit) for later in found[place + 1 :]):
                return None
            orders = [other for other in found if other.order == unit.order and _requests(other)]
            return orders[0] if len(orders) >= ORDERS else unit  # a long task is called by its beginning
    return None


def _requests(unit: Unit) -> bool:
    return unit.role == "user" and not (unit.pasted or unit.shared) and cues.asked(unit.text, unit.words)


def _settles(later: Unit, request: Unit) -> bool:
    """Whether a later unit finishes an order, or answers a question rather than promising to."""
    if later.role == "user" or later.failed or later.order == request.order:
        return False
    if later.role == "tool" or not request.cues.asks:
        return later.cues.done
    return not later.cues.asks and not later.text.lower().startswith(_PROMISE)


def _finished(found: Sequence[Unit], task: str) -> bool:
    """Whether what was said completes the task before: by its words, by saying that nothing is left, before another is given."""
    wanted = set(words(task)) - STOP - cues.ORDER - _HEADING
    given = False
    for unit in found:
        given = given or (unit.role == "user" and cues.asked(unit.text, unit.words))
        done = unit.cues.done and _completes(unit, wanted, given=given)
        if not unit.failed and (done or cues.nothing_left(unit.text)):
            return True
    return False


def _completes(done: Unit, wanted: set[str], *, given: bool) -> bool:
    """Whether a unit that tells of something done tells it of a task; an agent's word is for that while it has no other."""
    named = 2 * len(wanted & done.content) > len(wanted)
    return named or (done.role == "assistant" and not given)


def _hint(messages: Sequence[Message], found: Sequence[Unit], request: Unit) -> str:
    failed = [unit for unit in found if unit.failed and unit.order > request.order]
    if failed:
        return f"Say that {failed[-1].label or 'it'} failed, and propose what to do."
    if messages and messages[-1].role == "assistant" and messages[-1].text().rstrip().endswith("?"):
        return "Wait for the user's answer."
    return ""
