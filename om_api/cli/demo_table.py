"""What `om demo` shows while it plays: every agent's memory, as it is right now."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table

from om_api.cli.output import table_of
from om_api.client.memory import ObservationalMemory
from om_api.client.stats import Stats
from om_api.domain.events import MOST

_COLUMNS = ("agent", "raw messages", "chunks", "observations", "activations", "generation")
_LINE_S = 2.0
_BAR = 16


class Board:
    """What the memories look like right now, as a table or as lines."""

    def __init__(self, om: ObservationalMemory, agents: Iterable[str]) -> None:
        self._om = om
        self._agents = list(agents)
        self.look()

    def met(self) -> bool:
        """Whether a worker has looked at anything yet."""
        return bool(self._om.stats())

    def look(self) -> None:
        """Look again."""
        self.stats = {agent: stats_of(self._om, agent) for agent in self._agents}
        told = self._om.events("0", kinds=["activated"], count=MOST)
        self._activations = Counter(event.resource for event in told.events)

    def __rich__(self) -> Table:
        """The table a terminal shows."""
        return table_of(_COLUMNS, map(self._row, self.stats.values()))

    def _row(self, now: Stats) -> tuple[object, ...]:
        return (
            now.resource,
            _bar(now.message_tokens + now.chunk_tokens, now.message_threshold),
            f"{now.ready_chunks} of {now.chunks} ready",
            _bar(now.observation_tokens, now.observation_threshold),
            self._activations[now.resource],
            now.generation,
        )

    def line(self) -> str:
        """The same in one line."""
        return "  ".join(
            f"{agent}: raw {now.message_tokens + now.chunk_tokens:,}/{now.message_threshold:,}"
            f" obs {now.observation_tokens:,}/{now.observation_threshold:,}"
            f" act {self._activations[agent]} gen {now.generation}"
            for agent, now in self.stats.items()
        )


@contextmanager
def shown(board: Board) -> Iterator[Callable[[], None]]:
    """Yields what shows the board: a table that changes on a terminal, else a line every two seconds."""
    console = Console(highlight=False)
    if console.is_terminal:
        with Live(board, console=console, refresh_per_second=8):
            yield board.look
        return
    last = 0.0

    def line() -> None:
        nonlocal last
        board.look()
        if time.monotonic() - last >= _LINE_S:
            last = time.monotonic()
            click.echo(board.line())

    yield line


def stats_of(om: ObservationalMemory, agent: str) -> Stats:
    """One agent's stats."""
    found = om.stats(agent)
    return found if isinstance(found, Stats) else found[0]


def _bar(value: int, full: int) -> str:
    filled = min(_BAR, round(_BAR * value / full))
    return f"{'█' * filled}{'░' * (_BAR - filled)} {value:,} / {full:,}"
