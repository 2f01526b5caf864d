"""What composed memories cost a prompt cache: several conversations at once, each in a memory of its own, one of them read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice

import msgspec

from om_api.context import Context, composed
from om_api.domain import tokens
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_bench.harness.pipeline import pipeline
from om_bench.harness.talks import Talk
from om_bench.memory.quality import CacheReplay, steady

OWN = "bench-own"


class ComposedReplay(msgspec.Struct):
    """What came of it: how much of each context the next one begins with, in percent, alone and with others' notes.

    `moved` is how often what stands before the raw messages changed though the own memory did not, in `contexts` that were
    read; `joined` of these at its end only. `shown` are the tokens of others' notes in a context, on average.
    """

    talk: str
    others: int
    contexts: int
    alone: float
    composed: float
    moved: int
    joined: int
    shown: int


def measure(
    talks: Sequence[Talk], others: int, settings: Sequence[str], url: str | None = None
) -> list[ComposedReplay]:
    """Replay each talk with `others` of the rest as the memories that are composed with it, all of them message by message.

    `settings` are "name=value". A replay takes seconds for weeks: what came before an own activation counts as before it at
    once. Raises StoreError and SettingsError.
    """
    count = tokens.counter("auto")
    with _at_once():
        return [
            _replayed(talk, [*islice(cycle(talks), n + 1, n + 1 + others)], settings, count, url)
            for n, talk in enumerate(talks)
        ]


@contextmanager
def _at_once() -> Iterator[None]:
    slack, composed.SLACK_MS = composed.SLACK_MS, 0
    try:
        yield
    finally:
        composed.SLACK_MS = slack


def _replayed(
    talk: Talk, others: Sequence[Talk], settings: Sequence[str], count: Count, url: str | None
) -> ComposedReplay:
    names = [f"bench-other-{n}" for n in range(len(others))]
    streams = [cycle(other.messages) for other in others]
    read = _Reading(count)
    with pipeline(url, settings) as running:
        for n, message in enumerate(talk.messages):
            running.push(_of(message, OWN, n))
            for name, stream in zip(names, streams, strict=True):
                running.push(_of(next(stream), name, n))
            thread = message.thread_id
            read.take(message, running.om.get_context(thread, OWN), running.om.get_context(thread, OWN, also=names))
        for name in (OWN, *names):
            running.om.clear(name)
    return ComposedReplay(
        talk=talk.name,
        others=len(others),
        contexts=len(talk.messages),
        alone=round(100 * read.alone.share, 2),
        composed=round(100 * read.together.share, 2),
        moved=read.moved,
        joined=read.joined,
        shown=round(read.shown / max(len(talk.messages), 1)),
    )


class _Reading:
    """The contexts of one conversation, without others' notes and with them."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self.alone, self.together = CacheReplay(count), CacheReplay(count)
        self.moved = self.joined = self.shown = 0
        self._before: tuple[list[str], list[str]] | None = None

    def take(self, message: Message, alone: Context, together: Context) -> None:
        """Two contexts that were read after a message."""
        appended = self._count(message.text())
        self.alone.read(steady(alone), appended, message.thread_id)
        self.together.read(steady(together), appended, message.thread_id)
        own, notes = [each.id for each in together.observations], _notes(together)
        if self._before and self._before[0] == own and self._before[1] != notes:
            self.moved += 1
            self.joined += notes[: len(self._before[1])] == self._before[1]
        self._before = own, notes
        self.shown += sum(block.tokens for block in together.blocks if block.resource_id)


def _of(message: Message, resource: str, n: int) -> Message:
    return msgspec.structs.replace(message, resource_id=resource, id=f"{message.id}-{n}")


def _notes(context: Context) -> list[str]:
    return [block.text for block in context.blocks if block.stable and block.kind in {"reflection", "observations"}]


def as_lines(found: Sequence[ComposedReplay]) -> list[str]:
    """The figures as a table."""
    head = (
        "conversation",
        "contexts",
        "prefix share alone",
        "composed",
        "moved between",
        "at the end only",
        "tokens of others",
    )
    rows = [
        (
            *(each.talk, f"{each.contexts:,}", f"{each.alone:.2f} %", f"{each.composed:.2f} %"),
            *(str(each.moved), str(each.joined), f"{each.shown:,}"),
        )
        for each in found
    ]
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
