"""`om replay`: push a recorded conversation."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from om_api.cli.output import json_option, print_json
from om_api.cli.replay import read_messages
from om_api.cli.target import Target, checked, command
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.messages import Message
from om_api.domain.values import to_ms

_STDIN = "-"
_SHOWN = 5  # names of resources in the last line


class Player:
    """Sends messages in batches, no faster than `rate` a second, and counts what became of them."""

    def __init__(self, om: ObservationalMemory, batch: int, rate: float | None) -> None:
        self.om = om
        self.size = batch if rate is None else max(1, min(batch, int(rate)))
        self.rate = rate
        self.messages = self.added = self.duplicates = 0
        self.threads: set[tuple[str, str]] = set()

    def play(self, messages: Iterable[Message], progress: Callable[[int], None]) -> None:
        """Send everything; raises InvalidInputError or StoreError that says what was added before, and stays."""
        began = time.monotonic()
        try:
            for batch in batched(messages, self.size):
                self._send(batch)
                progress(self.messages)
                if self.rate is not None:
                    time.sleep(max(0.0, began + self.messages / self.rate - time.monotonic()))
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}. {self._kept()}") from None
        except StoreError as error:
            raise StoreError(f"{error} {self._kept()}", stored=error.stored) from None

    def _send(self, batch: list[Message]) -> None:
        receipt = self.om.add_messages(batch)
        self.threads |= {(message.resource_id, message.thread_id) for message in batch}
        self.messages += len(batch)
        self.added += receipt.added
        self.duplicates += len(receipt.duplicates)

    def _kept(self) -> str:
        return (
            f"The {self.messages:,} messages before it were sent and stay; "
            "sent again within ten minutes they are duplicates and change nothing."
        )


def batched(messages: Iterable[Message], size: int) -> Iterator[list[Message]]:
    """Give messages in lists of `size`; those that stand before a bad line come before its InvalidInputError."""
    batch: list[Message] = []
    problem: InvalidInputError | None = None
    try:
        for message in messages:
            batch.append(message)
            if len(batch) == size:
                yield batch
                batch = []
    except InvalidInputError as error:
        problem = error
    if batch:
        yield batch
    if problem:
        raise problem


def in_order(messages: Iterable[Message]) -> Iterator[Message]:
    """Give messages a time each that keeps them in the order they were recorded in.

    One without a time follows the message before it, or is of now where no time was recorded yet; one of the same ms
    as the message before is a ms later, since the store orders by time alone.
    """
    before, at = None, 0
    for message in messages:
        own = to_ms(message.timestamp)
        if own is not None and own != before:
            before, at = own, own
            yield message
            continue
        at = at + 1 if before is not None else max(at + 1, int(time.time() * 1000))
        yield msgspec.structs.replace(message, timestamp=at)


class Recording:
    """The lines of a file or of stdin, and how many of its bytes were read; `size` is None where nobody knows."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.size = None if file == _STDIN else Path(file).stat().st_size
        self.read = 0

    def lines(self) -> Iterator[str]:
        """The lines as text; raises InvalidInputError naming one that is not UTF-8."""
        with click.open_file(self.file, "rb") as stream:
            for number, line in enumerate(stream, 1):
                self.read += len(line)
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise InvalidInputError(f"line {number}: not UTF-8") from None


@command(
    "om replay conversation.jsonl --resource harold --thread thread-1",
    "om replay chats.json --resource harold --thread thread-1 --rate 5",
    "zcat old.jsonl.gz | om replay - --json",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--resource", metavar="ID", callback=checked, help="Whose memory, where the recording does not say.")
@click.option("--thread", metavar="ID", callback=checked, help="Which conversation, where the recording does not say.")
@click.option("--batch", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Messages in one call.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Messages a second; else as fast as it goes.")
@json_option
def replay(
    target: Target, file: str, resource: str | None, thread: str | None, batch: int, rate: float | None, as_json: bool
) -> None:
    """Push a recorded conversation: JSON lines of messages, or chats as OpenAI has them.

    What a message says of its own thread and resource stands above --thread and --resource.
    A bad line ends the replay and is named; what was added before stays. FILE may be `-` for stdin.
    """
    recording = Recording(file)
    began = time.monotonic()
    with target.memory() as om:
        player = Player(om, batch, rate)
        messages = read_messages(recording.lines(), resource=resource, thread=thread)
        _play(player, recording, in_order(messages))
    _print_totals(player, time.monotonic() - began, as_json)


def _play(player: Player, recording: Recording, messages: Iterable[Message]) -> None:
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[messages]:,} messages"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=recording.size, messages=0)
        player.play(messages, lambda sent: bar.update(task, completed=recording.read, messages=sent))


def _print_totals(player: Player, seconds: float, as_json: bool) -> None:
    names = sorted({resource for resource, _ in player.threads})
    if as_json:
        counts = {"messages": player.messages, "added": player.added, "duplicates": player.duplicates}
        print_json({**counts, "resources": names, "threads": len(player.threads), "seconds": round(seconds, 3)})
        return
    shown = ", ".join(names[:_SHOWN]) + (" and more" if names[_SHOWN:] else "")
    places = f", threads: {len(player.threads):,} of {shown}" if names else ""
    click.echo(f"added: {player.added:,}, duplicates: {player.duplicates:,}{places}, seconds: {seconds:.1f}")
