"""What `om demo` shows while it plays: every agent's memory, as it is right now."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from om_api.core import Stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from om_api.memory import ObservationalMemory

_LINE_S = 2.0
_BAR = 16


class Board:
    """What the memories look like right now, as a table or as lines."""

    def __init__(self, om: ObservationalMemory, agents: Iterable[str]) -> None:
        self._om = om
        self.stats = {agent: stats_of(om, agent) for agent in agents}
        self._activations: dict[str, set[str]] = {agent: set() for agent in self.stats}

    def met(self) -> bool:
        """Whether a worker has looked at anything yet."""
        return bool(self._om.stats())

    def look(self) -> None:
        """Look again."""
        for agent, seen in self._activations.items():
            self.stats[agent] = stats_of(self._om, agent)
            seen.update(each.activation for each in self._om.observations(agent))

    def look_back(self) -> None:
        """Count the activations that a reflection replaced before they were looked at."""
        for agent, seen in self._activations.items():
            seen.update(each.activation for era in self._om.history(agent) for each in era.replaced)

    def activations(self, agent: str) -> int:
        """How often chunks became observations, as far as it was seen."""
        return len(self._activations[agent])

    def __rich__(self) -> Table:
        """The table a terminal shows."""
        columns = ("agent", "raw messages", "chunks", "observations", "activations", "generation")
        table = Table(*columns, box=box.SIMPLE_HEAD)
        for agent, now in self.stats.items():
            table.add_row(
                agent,
                _bar(now.message_tokens + now.chunk_tokens, now.message_threshold),
                f"{now.ready_chunks} of {now.chunks} ready",
                _bar(now.observation_tokens, now.observation_threshold),
                str(self.activations(agent)),
                str(now.generation),
            )
        return table

    def line(self) -> str:
        """The same in one line."""
        return "  ".join(
            f"{agent}: raw {now.message_tokens + now.chunk_tokens:,}/{now.message_threshold:,}"
            f" obs {now.observation_tokens:,}/{now.observation_threshold:,}"
            f" act {self.activations(agent)} gen {now.generation}"
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
