"""`om demo`: the whole of it in small, in under a minute, with no key, no server and nothing left behind."""

import gzip
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec

from om_api.cli.children import BEAT, WORKER, Child
from om_api.cli.demo_archive import archive_environ, show_archive
from om_api.cli.demo_recall import show_recall
from om_api.cli.demo_screen import DemoPlayer, MemoryTable, report, shown
from om_api.cli.embedded import Embedded
from om_api.cli.output import typed
from om_api.cli.replay import read_messages
from om_api.cli.target import examples
from om_api.cli.up import NEXT
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import StoreError
from om_api.domain.messages import Message
from om_api.settings import load_settings

RECORDING = Path(__file__).with_name("demo.jsonl.gz")
LOWERED = {
    "OM_MESSAGE_THRESHOLD": "1000",
    "OM_OBSERVATION_THRESHOLD": "1000",
    "OM_OBSERVE_IDLE_AFTER": "365d",  # what was recorded long ago is not idle: it goes on right now
    "OM_OBSERVER_INTERVAL": "0.5s",
    "OM_REFLECTOR_INTERVAL": "1s",
    "OM_OBSERVER_MODEL": "extractive",
    "OM_REFLECTOR_MODEL": "extractive",
}
_YEAR = timedelta(weeks=52)
_BATCH = 4  # messages
_PAUSE_S = 0.25
_START_S = 30.0
_SETTLE_S = 15.0
_CALM = 3  # looks in a row that see no work


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


@click.command(epilog=examples("om demo", "om demo --speed 2", "om demo --keep"))
@click.option(
    "--speed", type=click.FloatRange(0.1, 20), default=1.0, show_default=True, help="How fast the messages come."
)
@click.option("--keep", is_flag=True, help="Keep store and workers running until Enter, to look around.")
@click.pass_context
def demo(ctx: click.Context, speed: float, keep: bool) -> None:
    """Watch three agents' conversations become memory, in under a minute.

    Starts a store, a worker and a beat of its own, with low thresholds and without a model (sentences are picked by
    rules), replays a recorded conversation through the client library, asks for a fact that left the notes and shows how
    it is recalled, moves the past to an archive and recalls from there, shows what one agent reads in the end, and checks
    that every message is covered exactly once. Nothing is kept. Exit code 1 if a message is not, or if nothing is recalled.
    """
    with _ended_by_sigterm(), ExitStack() as held:
        store = held.enter_context(Embedded())
        folder = held.enter_context(TemporaryDirectory(prefix="om-demo-"))
        environ = demo_environ(store.url, folder) | archive_environ(folder)
        om = held.enter_context(ObservationalMemory(load_settings(environ=environ)))
        crew = Crew(environ)
        held.enter_context(crew.working())
        messages = recording(datetime.now(UTC))
        table = MemoryTable(om, sorted({message.resource_id for message in messages}))
        player, total = DemoPlayer(om), len({(each.resource_id, each.id) for each in messages})
        began = time.monotonic()
        _play(player, crew, table, messages, _PAUSE_S / speed)
        asked, found = show_recall(om)
        found = show_archive(om, table.stats) and found
        right = report(om, table, player, total + asked, time.monotonic() - began) and found
        _offer(store.url, om.settings.archive_url, keep)
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
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        messages = list(read_messages(lines, resource=None, thread=None))
    times = [datetime.fromisoformat(str(message.timestamp)) for message in messages]
    shift = (now - max(times)) // _YEAR * _YEAR
    moved = zip(messages, times, strict=True)
    return [msgspec.structs.replace(message, timestamp=(at + shift).isoformat()) for message, at in moved]


def _play(player: DemoPlayer, crew: Crew, table: MemoryTable, messages: Sequence[Message], pause: float) -> None:
    """Replay the messages in the order they were written, and wait for what the workers still have to do."""
    first, *others = [messages[n : n + _BATCH] for n in range(0, len(messages), _BATCH)]
    player.turn(first)
    click.echo(f"{len(messages)} messages of {', '.join(table.stats)} are replayed; the workers start ...")
    crew.wait(table.met, _START_S, "the workers")
    with shown(table) as show:
        for batch in others:
            player.turn(batch)
            crew.check()
            show()
            time.sleep(pause)
        _settle(crew, table, show)


def _settle(crew: Crew, table: MemoryTable, show: Callable[[], None]) -> None:
    """Wait until the workers have nothing left to do, for 15 s at most."""
    calm, until = 0, time.monotonic() + _SETTLE_S
    while calm < _CALM and time.monotonic() < until:
        before = _tiers(table)
        time.sleep(0.5)
        crew.check()
        show()
        waiting = any(now.chunks > now.ready_chunks or now.reflecting for now in table.stats.values())
        calm = 0 if waiting or _tiers(table) != before else calm + 1


def _tiers(table: MemoryTable) -> list[tuple[int, ...]]:
    return [
        (now.message_tokens, now.chunk_tokens, now.observation_tokens, now.generation) for now in table.stats.values()
    ]


def _offer(url: str, archive: str | None, keep: bool) -> None:
    """Say what to try next; with `keep` wait for Enter (or the end of the input) first."""
    if keep:
        look = ("context codie codie-search", "history codie", "stats", "verify")
        click.echo("\nThe store and its workers run until you press Enter. In another terminal:")
        if archive:
            click.echo(f"  export OM_ARCHIVE__URL={archive}")
        for words in look:
            click.echo(f"  {typed('om')} --url {url} {words}")
        with suppress(EOFError):
            input()
    click.echo("\nNext, for real:")
    for line in ("om up", *NEXT):
        click.echo(f"  {typed(line)}")
