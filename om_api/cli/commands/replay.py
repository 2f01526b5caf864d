"""`om replay`: push a recorded conversation."""

import gzip
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from om_api.cli.output import json_option, note, print_json
from om_api.cli.player import Player
from om_api.cli.replay import read_messages
from om_api.cli.target import Target, checked, command
from om_api.cli.transcripts import Transcripts
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.values import to_ms
from om_api.language.words import amount

_STDIN = "-"
_GZIP = b"\x1f\x8b"  # what gzip begins a file with
_UNPACK = "gunzip -c FILE | om replay -"
_SHOWN = 5  # names of resources in the last line, and messages of which is said that they are not kept


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
    """The lines of a file, which may be gzip's, or of stdin, and how many bytes were read; `size` is None where nobody knows."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.packed = file != _STDIN and _is_packed(file)
        self.size = None if file == _STDIN or self.packed else Path(file).stat().st_size
        self.read = 0

    def lines(self) -> Iterator[str]:
        """The lines as text; raises InvalidInputError naming one that is not UTF-8."""
        with self._opened() as stream:
            for number, line in enumerate(self._raw(stream), 1):
                self.read += len(line)
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    advice = f": it is gzip's, so unpack it first ({_UNPACK})" if line.startswith(_GZIP) else ""
                    raise InvalidInputError(f"line {number}: not UTF-8{advice}") from None

    def _opened(self) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(self.file) if self.packed else click.open_file(self.file, "rb"))

    def _raw(self, stream: IO[bytes]) -> Iterator[bytes]:
        try:
            yield from stream
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInputError(f"{self.file} was cut off, or is no whole gzip file: {error}") from None


def _is_packed(file: str) -> bool:
    with Path(file).open("rb") as stream:
        return stream.read(len(_GZIP)) == _GZIP


@command(
    "om replay conversation.jsonl --resource harold --thread thread-1",
    "om replay chats.json --resource harold --thread thread-1 --rate 5",
    "om replay ~/.claude/projects/-src-app/0b9d.jsonl --resource harold",
    "om replay old.jsonl.gz --json | jq '.histories[].diverged_at'",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--resource", metavar="ID", callback=checked, help="Whose memory, where the recording does not say.")
@click.option("--thread", metavar="ID", callback=checked, help="Which conversation, where the recording does not say.")
@click.option("--batch", type=click.IntRange(1, 10_000), default=500, show_default=True, help="Messages in one call.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Messages a second; else as fast as it goes.")
@json_option
def replay(
    target: Target, file: str, resource: str | None, thread: str | None, batch: int, rate: float | None, as_json: bool
) -> None:
    """Push a recorded conversation: JSON lines of messages, chats as OpenAI has them, or a coding agent's transcript.

    Transcripts of Claude Code (~/.claude/projects) and Codex (~/.codex/sessions) are read with roles, times, tool calls and
    results. Their thread is --thread, else the session; the messages of a subagent go to a separate thread.

    What a message says of its own thread and resource stands above --thread and --resource.
    A bad line ends the replay and is named; what was added before stays. FILE may be gzip's, or `-` for stdin.

    What is kept already is known, by its id or by what precedes it, and adds nothing: a recording can be replayed again,
    whole or longer. Instructions (role system) at the beginning of a thread are not kept. Exits with 1 if a message was
    not kept because the one of its id says something else.
    """
    recording = Recording(file)
    began = time.monotonic()
    with target.memory() as om:
        player = Player(om, batch, rate)
        transcripts = Transcripts(thread)
        messages = read_messages(recording.lines(), resource=resource, thread=thread, transcripts=transcripts)
        _play(player, recording, in_order(messages))
    _print_totals(player, time.monotonic() - began, as_json, transcripts.skipped)
    _print_notes(player, transcripts.skipped)
    if player.changed:
        sys.exit(1)


def _play(player: Player, recording: Recording, messages: Iterable[Message]) -> None:
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[messages]:,} messages"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=recording.size, messages=0)
        player.play(messages, lambda sent: bar.update(task, completed=recording.read, messages=sent))


def _print_totals(player: Player, seconds: float, as_json: bool, skipped: int) -> None:
    names = sorted({resource for resource, _ in player.threads})
    counts = {"added": player.added, "known": player.known, "grown": player.grown, "changed": len(player.changed)}
    if as_json:
        every: dict[str, Any] = {"messages": player.messages, **counts, "instructions": player.instructions}
        every["skipped"] = skipped
        every |= {"resources": names, "threads": len(player.threads), "seconds": round(seconds, 3)}
        print_json({**every, "histories": _histories(player), "advice": [each.advice for each in player.changed]})
        return
    shown = ", ".join(names[:_SHOWN]) + (" and more" if names[_SHOWN:] else "")
    places = f", threads: {len(player.threads):,} of {shown}" if names else ""
    totals = ", ".join(f"{word}: {count:,}" for word, count in counts.items())
    click.echo(f"{totals}{places}, seconds: {seconds:.1f}")


def _histories(player: Player) -> list[dict[str, Any]]:
    """Of each thread the ids of its messages ("" = not kept), and the position from which on it is not what was kept."""
    return [
        {"resource": resource, "thread": thread, "ids": found.ids, "diverged_at": found.diverged_at}
        for (resource, thread), found in player.threads.items()
    ]


def _print_notes(player: Player, skipped: int) -> None:
    """Say what was not kept, and why."""
    if skipped:
        note(f"{amount(skipped, 'line')} skipped: not part of the conversation (summaries, snapshots, token counts, …)")
    if player.instructions:
        note(
            f"{player.instructions:,} not kept: instructions (role system) before a conversation are the agent's to give"
        )
    for (resource, thread), found in player.threads.items():
        if found.diverged_at is not None:
            where = f"{resource}'s thread {thread}: from its message {found.diverged_at + 1:,} on"
            note(f"{where} the recording is not what is kept")
    for changed in player.changed[:_SHOWN]:
        note(f"changed: {changed.advice}")
    if more := len(player.changed[_SHOWN:]):
        note(f"changed: {more:,} more")
