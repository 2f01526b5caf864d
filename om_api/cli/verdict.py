"""What `om demo` says in the end: what became of every message, and how much of what was read stayed the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from om_api.cli.output import print_table, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from om_api.cli.board import Board
    from om_api.context import Context
    from om_api.memory import ObservationalMemory
    from om_api.store.rules import Breach
    from om_api.values import Message

# What is shown of a context: of each kind of block, how many lines of its beginning and of its end.
_SHOWN = {"reflection": (9, 1), "observations": (10, 1), "continuation": (4, 0), "message": (0, 8), "volatile": (9, 1)}
_WIDTH = 110


class Prefix:
    """How much of what is read begins as what was read before: the bytes a prompt cache can serve again."""

    def __init__(self) -> None:
        self._last: dict[str, bytes] = {}
        self._same = self._all = 0
        self.compared = 0

    def add(self, thread: str, text: str) -> None:
        """Compare a thread's text with the one read before it; the first has nothing to be compared with."""
        now = text.encode()
        if before := self._last.get(thread):
            self._same += _same_from_the_start(before, now)
            self._all += len(now)
            self.compared += 1
        self._last[thread] = now

    @property
    def share(self) -> float:
        """Bytes that were the same from the beginning on / bytes read, over everything compared."""
        return self._same / self._all if self._all else 0.0


def _same_from_the_start(before: bytes, now: bytes) -> int:
    pairs = zip(before, now, strict=False)
    return next((n for n, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


class Played(Protocol):
    """What is known of a replay: messages that came twice, and the contexts read, in whole and their stable blocks."""

    duplicates: int
    whole: Prefix
    notes: Prefix


class Coverage(NamedTuple):
    """Where the messages are; `wrong` names those that are covered never or twice."""

    raw: int
    observed: int
    reflected: int
    wrong: tuple[str, ...]


def coverage(om: ObservationalMemory, ids: Mapping[str, set[str]]) -> Coverage:
    """Count for every pushed message (ids by agent) where it is, sources of observations included."""
    raw, observed, reflected = Counter[str](), Counter[str](), Counter[str]()
    wrong: set[str] = set()
    for agent in ids:
        for thread in om.threads(agent):
            raw.update(message.id for message in om.get_context(thread.id, agent).messages)
        own, replaced = om.observations(agent), [each for era in om.history(agent) for each in era.replaced]
        observed.update(name for each in own for name in each.message_ids)
        reflected.update(name for each in replaced for name in each.message_ids)
        for each in (*own, *replaced):
            wrong |= {message.id for message in om.sources(each.id, agent)} ^ set(each.message_ids)
    found, pushed = raw + observed + reflected, set().union(*ids.values())
    wrong |= {name for name in {*pushed, *found} if found[name] != 1 or name not in pushed}
    return Coverage(raw.total(), observed.total(), reflected.total(), tuple(sorted(wrong)))


def report(om: ObservationalMemory, board: Board, replay: Played, messages: Sequence[Message], seconds: float) -> bool:
    """Print what became of the messages; returns whether each is covered exactly once."""
    board.look_back()
    _show_context(om, max(board.stats, key=lambda agent: board.stats[agent].generation))
    ids = {agent: {each.id for each in messages if each.resource_id == agent} for agent in board.stats}
    covered, total, breaches = coverage(om, ids), sum(map(len, ids.values())), om.verify()
    board.look()
    print_table(
        ("agent", "messages", "tokens observed", "tokens they take now", "compression", "activations", "generations"),
        [_row(agent, len(ids[agent]), board) for agent in board.stats],
        f"What became of {total} messages in {seconds:.0f} s ({replay.duplicates} came twice and were kept once)",
    )
    for line in (*_prefix_lines(replay), *_coverage_lines(covered, total), *_verify_lines(breaches)):
        click.echo(line)
    return not covered.wrong and not breaches


def _row(agent: str, messages: int, board: Board) -> Sequence[object]:
    now = board.stats[agent]
    kept = now.observation_tokens + now.reflection_tokens
    times = f"{now.compression:.1f} x" if now.compression else None
    return agent, messages, now.observed_tokens, kept, times, board.activations(agent), now.generation


def _prefix_lines(replay: Played) -> Iterator[str]:
    yield f"stable prefix  in {replay.whole.compared} contexts, each compared with the one read before it in its thread:"
    yield f"               {replay.notes.share:.0%} of the bytes of preamble, reflection and observations are the same from"
    yield f"               the first byte on; of all bytes, new messages and the last block included, {replay.whole.share:.0%}"


def _coverage_lines(covered: Coverage, total: int) -> Iterator[str]:
    places = f"{covered.raw} raw, {covered.observed} in observations, {covered.reflected} in reflections"
    if covered.wrong:
        yield f"coverage       BROKEN for {len(covered.wrong)} of {total} messages: {', '.join(covered.wrong[:20])}"
    else:
        yield f"coverage       all {total} messages are covered exactly once: {places}"


def _verify_lines(breaches: Sequence[Breach]) -> Iterator[str]:
    yield f"om verify      {len(breaches) or 'no'} breaches of what the store promises"
    for breach in breaches[:10]:
        yield f"               {visible(' '.join(map(str, breach)))}"


def _show_context(om: ObservationalMemory, agent: str) -> None:
    newest = max(om.threads(agent), key=lambda thread: thread.at)
    context = om.get_context(newest.id, agent)
    click.echo(f"\nWhat {agent} reads before its next turn in {newest.id} ({context.tokens:,} tokens):\n")
    for line in excerpt(context):
        click.echo(f"  | {line}")
    click.echo()


def excerpt(context: Context) -> list[str]:
    """The beginning or the end of everything in a context but its preamble, lines cut to what a terminal shows."""
    lines: list[str] = []
    for kind, (head, tail) in _SHOWN.items():
        text = "\n".join(block.plain for block in context.blocks if block.kind == kind)
        lines += _shortened([visible(line) for line in text.splitlines()], head, tail)
    return [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 4]} ..." for line in lines]


def _shortened(lines: list[str], head: int, tail: int) -> list[str]:
    left = len(lines) - head - tail
    return lines if left <= 1 else [*lines[:head], f"... {left} more lines ...", *lines[head + left :]]
