"""Capping: selects the notes and the parts of the closing block that fit into the cap of a context."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import msgspec

from om_api.context.composed import Composition
from om_api.context.signature import Signer
from om_api.context.stable import stable_blocks
from om_api.context.view import Block
from om_api.context.volatile import Moment
from om_api.domain.message_tokens import Count
from om_api.domain.thread_sections import runs, section
from om_api.domain.values import Generation, Stored

_STEPS = 8  # of a cap
_LEAST, _MOST = 2, 6  # steps that are reserved for messages and the closing block
_NOTES = {"reflection", "observations"}
_FRAME = 20  # tokens of the tags around a reflection, at most
_LINE = 60  # tokens of the line about omitted notes, at most


class FittedNotes(NamedTuple):
    """The stable blocks that have room, the tokens of omitted notes, and whether other memories' notes were omitted."""

    blocks: list[Block]
    left_out: int = 0
    without_others: bool = False


def notes_room(cap: int, turn: int) -> int:
    """The share of a cap for notes, given the tokens of the newest turn: a quarter to three quarters of the cap.

    It changes in steps of an eighth of the cap, so that the beginning of a context does not move with each message.
    """
    step = max(cap // _STEPS, 1)
    return max(cap - step * min(max(-(-turn // step), _LEAST), _MOST), 0)


def fitted_notes(
    observations: Sequence[Stored],
    generation: Generation | None,
    signer: Signer,
    pooled: bool,  # noqa: FBT001 - compared with the last one, as the others
    kept: str,
    composed: Composition | None,
    room: int,
    *,
    count: Count,
) -> FittedNotes:
    """The stable blocks in `room` tokens: first other memories' notes are left out, then the oldest own ones.

    A reflection keeps its newest lines, in half the room of notes. Observations keep whole activations; the oldest are left
    out by a quarter of the room at a time. The working memory is left out last. A line in the preamble states how much.
    """
    full = stable_blocks(observations, generation, signer, pooled, kept, composed, count=count)
    if _size(full) <= room:
        return FittedNotes(full)
    own = stable_blocks(observations, generation, signer, pooled, kept, None, count=count)
    if _size(own) <= room:
        return FittedNotes(own, _size(full) - _size(own), without_others=True)
    others = full != own
    notes = room - _LINE - sum(block.tokens for block in own if block.kind not in _NOTES)
    if generation and sum(block.tokens for block in own if block.kind == "reflection") > notes // 2:
        text = _newest_lines(generation.text, notes // 2 - _FRAME, count)
        generation = msgspec.structs.replace(generation, text=text, tokens=0) if text else None
        own = stable_blocks(observations, generation, signer, pooled, kept, None, count=count)
    left = notes - sum(block.tokens for block in own if block.kind == "reflection")
    shown = _newest_entries([block for block in own if block.kind == "observations"], left)
    blocks = [block for block in own if block.kind != "observations" or any(block is one for one in shown)]
    if not shown and left < 0:
        blocks = [block for block in blocks if block.kind == "kept" and block.tokens <= room]
    lost = _size(full) - _size(blocks)
    return FittedNotes([*_with_notice(blocks, lost, count)], lost, without_others=others)


def _with_notice(blocks: Sequence[Block], lost: int, count: Count) -> Iterator[Block]:
    line = f"Your oldest notes have no room here, about {lost:,} tokens of them: recall finds what they say."
    for block in blocks:
        if block.kind == "preamble":
            text = f"{block.text}\n\n{line}"
            yield msgspec.structs.replace(block, text=text, tokens=block.tokens + count(f"\n\n{line}"))
        else:
            yield block


def _size(blocks: Sequence[Block]) -> int:
    return sum(block.tokens for block in blocks)


def _newest_entries(blocks: Sequence[Block], room: int) -> list[Block]:
    """The newest blocks that have room. The oldest go by a quarter of it at a time, so that the first seldom changes."""
    sizes = [block.tokens for block in blocks]
    step = max(room // 4, 1)
    omitted = -(-max(sum(sizes) - room, 0) // step) * step
    shown = [block for block, end, size in zip(blocks, accumulate(sizes), sizes, strict=True) if end - size >= omitted]
    if shown or room <= 0:
        return shown
    return [block for block in blocks[-1:] if block.tokens <= room]


def _newest_lines(text: str, room: int, count: Count) -> str:
    """The newest lines of a reflection that have room, under the headings of their threads and days."""
    every = [(thread, line) for thread, lines in runs(text.split("\n")) for line in lines]
    start, left = len(every), room
    while start and (left := left - count(f"{every[start - 1][1]}\n")) >= 0:
        start -= 1
    thread = every[start][0] if start < len(every) else ""
    day = next((line for of, line in reversed(every[:start]) if of == thread and line.startswith("Date:")), "")
    shown = [*([(thread, day)] if day else []), *every[start:]]
    parts = ((name, [line for _, line in group]) for name, group in groupby(shown, key=lambda pair: pair[0]))
    return "\n".join(line for name, lines in parts for line in (section(name, lines) if name else lines))


def smaller_moments(moment: Moment) -> Iterator[Moment]:
    """The closing block, then with one part after the other left out."""
    yield moment
    yield (moment := moment._replace(recalled=""))
    yield (moment := moment._replace(others={}, counts={}))
    yield (moment := moment._replace(news=()))
    yield (moment := moment._replace(added=""))
    yield (moment := moment._replace(kept=""))
    yield moment._replace(aged=None if moment.aged is None else [])
    yield moment._replace(aged=None, task=type(moment.task)(), unavailable=False)
