"""Observing: the sentences of a conversation that are worth a note, within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.language.calendar import LocalTime
from om_workers.llm.base import Request
from om_workers.llm.extractive import joining, notes, task
from om_workers.llm.extractive.choosing import Chooser
from om_workers.llm.extractive.sizes import counted, size_of, tokens
from om_workers.llm.extractive.units import PASTED, units

LEAST = 80  # tokens an answer may always have, however short the conversation
_OF_TALK, _OF_ANSWERS, _OF_DATA = 5, 10, 10  # how many tokens become one, where nobody said how many are wanted
_SEAMS = 2  # texts that are joined may be a token or two more than they are apart
_ROUNDS = 4


def observe(request: Request) -> str:
    """The observations of a request's messages in our tag format; an empty block when nothing is worth noting."""
    if request.threads:
        return _by_thread(request)
    block, ending = _answer(request.messages, request.target_tokens, LocalTime(request.timezone))
    return "\n".join(filter(None, ["<observations>", block, "</observations>", ending]))


def _by_thread(request: Request) -> str:
    """An answer for each thread, in a section of its own; of the size wanted each has as much as it has to tell."""
    sizes = {name: size_of(messages) for name, messages in request.threads.items()}
    share = request.target_tokens / max(1, sum(sizes.values()))
    lines = ["<observations>"]
    for name, messages in request.threads.items():
        answer = _answer(messages, math.ceil(share * sizes[name]), LocalTime(request.timezone))
        lines += [f'<thread id="{name}">', *filter(None, answer), "</thread>"]
    return "\n".join([*lines, "</observations>"])


def _answer(messages: Iterable[Message], wanted: int, clock: LocalTime) -> tuple[str, str]:
    """The notes of messages and the sections that follow them, together in `wanted` tokens (0: notes as they are worth)."""
    messages = sorted(messages, key=lambda message: message.at)
    found = units(messages)
    ending = task.ending(messages, found)
    size = wanted or max(LEAST, sum(map(_worth, messages)))
    style = joining.style_for(size / max(size_of(messages), 1))
    room = wanted - counted(ending) - counted(notes.FRAME) - _SEAMS if wanted else size
    return _noted(Chooser(found, clock, style), room, style, clock), ending


def _noted(chooser: Chooser, room: int, style: joining.Style, clock: LocalTime) -> str:
    """The notes that fit into `room` tokens: what lines share is known when they are written, and is used again."""
    picks, text = list[joining.Pick](), ""
    for _ in range(_ROUNDS):
        more = chooser.choose(room - counted(text), must=not picks)
        picks += more
        text = _written(picks, style, clock)
        if not more:
            break
    while len(picks) > 1 and counted(text) > room:
        picks.pop()
        text = _written(picks, style, clock)
    return text


def _written(picks: Sequence[joining.Pick], style: joining.Style, clock: LocalTime) -> str:
    return notes.write(joining.joined(sorted(picks, key=lambda pick: pick.unit.order), style, clock))


def _worth(message: Message) -> int:
    """The tokens that notes of a message may have: a fifth of what is short and so says much, less of all else."""
    size = count_message(message, tokens)
    if size > PASTED:
        return size // _OF_DATA
    return size // (_OF_ANSWERS if message.role == "assistant" else _OF_TALK)
