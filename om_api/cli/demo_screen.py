"""What `om demo` shows: every agent's memory as it is right now, and in the end what became of every message."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live

from om_api.cli.output import print_fields, print_line, print_table, table_of, visible, width
from om_api.cli.tables import Rows
from om_api.client.memory import ObservationalMemory
from om_api.client.stats import Stats
from om_api.context import Context
from om_api.domain.caching import shared
from om_api.domain.events import MOST
from om_api.domain.messages import Message
from om_api.store.audit.verify import Verified

_MEMORIES = ("agent", "raw messages", "chunks", "observations", "activations", "generation")
_LINE_S = 2.0
_BAR, _SHORT_BAR = 16, 8  # the latter where a table has less room than a bar of the former wants
_WIDE = 112
_TOKENS = ("observed_tokens", "observation_tokens", "reflection_tokens")
_BECAME = ("resource", "threads", "observed_messages", *_TOKENS, "compression", "generation")

# What is shown of a context: of each kind of block, how many lines of its beginning and of its end.
_SHOWN = {"reflection": (9, 1), "observations": (10, 1), "continuation": (4, 0), "message": (0, 8), "volatile": (9, 1)}
_WIDTH = 110
_MARGIN = "  | "
_INDENT = 15  # of what goes on below a line of the report


class MemoryTable:
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

    def __rich__(self) -> Rows:
        """The table a terminal shows."""
        return table_of(_MEMORIES, map(self._row, self.stats.values()), least=("chunks", "activations"))

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
def shown(table: MemoryTable) -> Iterator[Callable[[], None]]:
    """Yields what shows the table: a table that changes on a terminal, else a line every two seconds."""
    console = Console(highlight=False)
    if console.is_terminal:
        with Live(table, console=console, refresh_per_second=8):
            yield table.look
        return
    last = 0.0

    def line() -> None:
        nonlocal last
        table.look()
        if time.monotonic() - last >= _LINE_S:
            last = time.monotonic()
            click.echo(table.line())

    yield line


def stats_of(om: ObservationalMemory, agent: str) -> Stats:
    """One agent's stats."""
    found = om.stats(agent)
    return found if isinstance(found, Stats) else found[0]


def _bar(value: int, full: int) -> str:
    size = _BAR if width() >= _WIDE else _SHORT_BAR
    filled = min(size, round(size * value / full))
    return f"{'█' * filled}{'░' * (size - filled)} {value:,} / {full:,}"


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
            self._same += shared(before, now)
            self._all += len(now)
            self.compared += 1
        self._last[thread] = now

    @property
    def share(self) -> float:
        """Bytes that were the same from the beginning on / bytes read, over everything compared."""
        return self._same / self._all if self._all else 0.0


class DemoPlayer:
    """Pushes messages as their agents would, and reads their threads' contexts as these would before the next turn."""

    def __init__(self, om: ObservationalMemory) -> None:
        self._om = om
        self.duplicates = 0
        self.whole, self.notes = Prefix(), Prefix()

    def turn(self, batch: Sequence[Message]) -> None:
        """Push a few messages, then read the context of each thread they belong to."""
        self.duplicates += len(self._om.add_messages(batch).duplicates)
        for agent, thread in dict.fromkeys((message.resource_id, message.thread_id) for message in batch):
            context = self._om.get_context(thread, agent)
            self.whole.add(f"{agent}/{thread}", context.text)
            self.notes.add(f"{agent}/{thread}", "\n\n".join(block.text for block in context.blocks if block.stable))


def report(om: ObservationalMemory, table: MemoryTable, player: DemoPlayer, total: int, seconds: float) -> bool:
    """Print what became of so many messages; returns whether each is covered exactly once."""
    table.look()
    agents = table.stats.values()
    _show_context(om, max(agents, key=lambda now: now.generation).resource)
    title = f"What became of {total} messages in {seconds:.0f} s ({player.duplicates} came twice and were kept once)"
    print_fields(agents, _BECAME, title, least=("threads", "compression"))
    found = om.examine()
    for line in (_stable(player), _coverage(om, agents, total, found)):
        print_line(line, _INDENT)
    print_line(f"om verify      {len(found.breaches) or 'no'} breaches of what the store promises", _INDENT)
    if found.breaches:
        print_table(("where", "what"), found.breaches)
    return found.messages == total and not found.breaches


def _stable(player: DemoPlayer) -> str:
    return (
        f"stable prefix  in {player.whole.compared} contexts, each compared with the one read before it in its thread: "
        f"{player.notes.share:.0%} of the bytes of preamble, reflection and observations are the same from "
        f"the first byte on; of all bytes, new messages and the last block included, {player.whole.share:.0%}"
    )


def _coverage(om: ObservationalMemory, agents: Collection[Stats], total: int, found: Verified) -> str:
    if found.messages != total or found.breaches:
        return f"coverage       BROKEN: of {total} messages {found.messages} are kept"
    observed = sum(now.observed_messages for now in agents)
    held = sum(len(each.message_ids) for now in agents for each in om.observations(now.resource))
    places = f"{total - observed} raw, {held} in observations, {observed - held} in reflections"
    return f"coverage       all {total} messages are covered exactly once: {places}"


def _show_context(om: ObservationalMemory, agent: str) -> None:
    newest = max(om.threads(agent), key=lambda thread: thread.at)
    context = om.get_context(newest.id, agent)
    click.echo(f"\nWhat {agent} reads before its next turn in {newest.id} ({context.tokens:,} tokens):\n")
    for line in excerpt(context):
        click.echo(f"{_MARGIN}{line}")
    click.echo()


def excerpt(context: Context) -> list[str]:
    """The beginning or the end of everything in a context but its preamble, lines cut to what a terminal shows."""
    lines: list[str] = []
    for kind, (head, tail) in _SHOWN.items():
        text = "\n".join(block.plain for block in context.blocks if block.kind == kind)
        lines += _shortened([visible(line) for line in text.splitlines()], head, tail)
    room = min(_WIDTH, width() - len(_MARGIN))
    return [line if len(line) <= room else f"{line[: room - 4]} ..." for line in lines]


def _shortened(lines: list[str], head: int, tail: int) -> list[str]:
    left = len(lines) - head - tail
    return lines if left <= 1 else [*lines[:head], f"... {left} more lines ...", *lines[head + left :]]
