"""`om demo`: the whole of it in small, in under a minute, with no key, no server and nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter, deque
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from om_api.cli.embedded import Embedded
from om_api.cli.help import examples
from om_api.cli.output import print_table, visible
from om_api.cli.replay import read_messages
from om_api.cli.up import BEAT, NEXT, WORKER, Child
from om_api.core import Stats
from om_api.errors import StoreError
from om_api.memory import ObservationalMemory
from om_api.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from om_api.context import Context
    from om_api.store.rules import Breach
    from om_api.values import Message

RECORDING = Path(__file__).with_name("demo.jsonl")
LOWERED = {
    "OM_MESSAGE_THRESHOLD": "1000",
    "OM_OBSERVATION_THRESHOLD": "1200",
    "OM_OBSERVE_IDLE_AFTER": "365d",  # what was recorded long ago is not idle: it goes on right now
    "OM_OBSERVER_INTERVAL": "0.5s",
    "OM_REFLECTOR_INTERVAL": "1s",
    "OM_OBSERVER_MODEL": "extractive",
    "OM_REFLECTOR_MODEL": "extractive",
}
_YEAR = timedelta(weeks=52)
_BATCH = 4  # messages
_PAUSE_S = 0.25
_LINE_S = 2.0
_START_S = 30.0
_SETTLE_S = 15.0
_CALM = 3  # looks in a row that see no work
# What is shown of a context: of each kind of block, how many lines of its beginning and of its end.
_SHOWN = {"reflection": (9, 1), "observations": (10, 1), "continuation": (4, 0), "message": (0, 8), "volatile": (9, 1)}
_WIDTH, _BAR = 110, 16


class Crew:
    """One worker and one beat; `check` raises StoreError with what they said last when one has ended."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._said: deque[str] = deque(maxlen=15)
        words = ((*WORKER, "-c", "8"), BEAT)
        self._children = [Child(each, environ, lambda _, line: self._said.append(line)) for each in words]

    @contextmanager
    def working(self) -> Iterator[None]:
        """Have them work for as long as the block lasts."""
        try:
            for child in self._children:
                child.start()
            yield
        finally:
            for child in self._children:
                child.ask_to_end()
            for child in self._children:
                child.stop(10)

    def check(self) -> None:
        """Raise StoreError unless both work."""
        for child in self._children:
            if not child.alive:
                raise StoreError("\n".join([f"the {child.name} has ended; it said last:", *self._said]))

    def wait(self, done: Callable[[], object], seconds: float, what: str) -> None:
        """Look until `done`; raises StoreError after `seconds`."""
        until = time.monotonic() + seconds
        while not done():
            self.check()
            if time.monotonic() > until:
                raise StoreError("\n".join([f"waited {seconds:g} s for {what}; last was said:", *self._said]))
            time.sleep(0.1)


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


class Coverage(NamedTuple):
    """Where the messages are; `wrong` names those that are covered never or twice."""

    raw: int
    observed: int
    reflected: int
    wrong: tuple[str, ...]


@click.command(epilog=examples("om demo", "om demo --speed 2", "om demo --keep"))
@click.option(
    "--speed", type=click.FloatRange(0.1, 20), default=1.0, show_default=True, help="How fast the messages come."
)
@click.option("--keep", is_flag=True, help="Keep store and workers running until Enter, to look around.")
@click.pass_context
def demo(ctx: click.Context, speed: float, keep: bool) -> None:
    """Watch three agents' conversations become memory, in under a minute.

    Starts a store, a worker and a beat of its own, with low thresholds and without a model (sentences are picked by
    rules), replays a recorded conversation through the client library, shows what one agent reads in the end, and
    checks that every message is covered exactly once. Nothing is kept. Exit code 1 if a message is not.
    """
    with _ended_by_sigterm(), ExitStack() as held:
        store = held.enter_context(Embedded())
        environ = demo_environ(store.url, held.enter_context(TemporaryDirectory(prefix="om-demo-")))
        om = held.enter_context(ObservationalMemory(load_settings(environ=environ)))
        crew = Crew(environ)
        held.enter_context(crew.working())
        messages = recording(datetime.now(UTC))
        board = Board(om, sorted({message.resource_id for message in messages}))
        replay = Replay(om)
        began = time.monotonic()
        _play(replay, crew, board, messages, _PAUSE_S / speed)
        right = _report(om, board, replay, messages, time.monotonic() - began)
        _offer(store.url, keep)
    ctx.exit(0 if right else 1)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, so that nothing is left behind."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def demo_environ(url: str, empty: str) -> dict[str, str]:
    """This process's environment with the demo's settings instead of anyone's; `empty` is a folder without files."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    return own | LOWERED | {"OM_REDIS_URL": url, "OM_CONFIG_DIR": empty}


def recording(now: datetime) -> list[Message]:
    """The recorded messages, moved by whole 52 weeks into the year before `now`: weekdays stay what they were."""
    with RECORDING.open(encoding="utf-8") as lines:
        messages = list(read_messages(lines, resource=None, thread=None))
    times = [datetime.fromisoformat(str(message.timestamp)) for message in messages]
    shift = (now - max(times)) // _YEAR * _YEAR
    moved = zip(messages, times, strict=True)
    return [msgspec.structs.replace(message, timestamp=(at + shift).isoformat()) for message, at in moved]


def stats_of(om: ObservationalMemory, agent: str) -> Stats:
    """One agent's stats."""
    found = om.stats(agent)
    return found if isinstance(found, Stats) else found[0]


# -- replaying ----------------------------------------------------------------------------------------------------------


class Replay:
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


def _play(replay: Replay, crew: Crew, board: Board, messages: Sequence[Message], pause: float) -> None:
    """Replay the messages in the order they were written, and wait for what the workers still have to do."""
    first, *others = [messages[n : n + _BATCH] for n in range(0, len(messages), _BATCH)]
    replay.turn(first)
    click.echo(f"{len(messages)} messages of {', '.join(board.stats)} are replayed; the workers start ...")
    crew.wait(board.met, _START_S, "the workers")
    with _shown(board) as show:
        for batch in others:
            replay.turn(batch)
            crew.check()
            show()
            time.sleep(pause)
        _settle(crew, board, show)


@contextmanager
def _shown(board: Board) -> Iterator[Callable[[], None]]:
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


def _settle(crew: Crew, board: Board, show: Callable[[], None]) -> None:
    """Wait until the workers have nothing left to do, for 15 s at most."""
    calm, until = 0, time.monotonic() + _SETTLE_S
    while calm < _CALM and time.monotonic() < until:
        before = _tiers(board)
        time.sleep(0.5)
        crew.check()
        show()
        waiting = any(now.chunks > now.ready_chunks or now.reflecting for now in board.stats.values())
        calm = 0 if waiting or _tiers(board) != before else calm + 1


def _tiers(board: Board) -> list[tuple[int, ...]]:
    return [
        (now.message_tokens, now.chunk_tokens, now.observation_tokens, now.generation) for now in board.stats.values()
    ]


# -- what became of it --------------------------------------------------------------------------------------------------


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


def _report(om: ObservationalMemory, board: Board, replay: Replay, messages: Sequence[Message], seconds: float) -> bool:
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


def _prefix_lines(replay: Replay) -> Iterator[str]:
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


def _bar(value: int, full: int) -> str:
    filled = min(_BAR, round(_BAR * value / full))
    return f"{'█' * filled}{'░' * (_BAR - filled)} {value:,} / {full:,}"


def _offer(url: str, keep: bool) -> None:
    """Say what to try next; with `keep` wait for Enter (or the end of the input) first."""
    if keep:
        look = ("context codie codie-search", "history codie", "stats", "verify")
        click.echo("\nThe store and its workers run until you press Enter. In another terminal:")
        for words in look:
            click.echo(f"  om --url {url} {words}")
        with suppress(EOFError):
            input()
    click.echo("\nNext, for real:")
    for line in ("om up", *NEXT):
        click.echo(f"  {line}")
