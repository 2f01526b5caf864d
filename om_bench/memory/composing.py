"""What composed memories cost a prompt cache: several conversations at once, each noted in a memory of its own, one of them read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice


import msgspec

from om_api.context import Context, composed
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


def measure(talks: Sequence[Talk], others: int, settings: Sequence[str], count: Count, url: str | None = None) -> list[ComposedReplay]:
    """Replay each talk with `others` of the rest as the memories that are composed with it, all of them message by message.

    `settings` are "name=value". A replay takes seconds for what takes weeks, so an own activation counts at once what came before it.
    """
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
    alone, together = CacheReplay(count), CacheReplay(count)
    moved = joined = shown = 0
    before: tuple[list[str], list[str]] | None = None
    with pipeline(url, settings) as running:
        streams = [cycle(other.messages) for other in others]
        for n, message in enumerate(talk.messages):
            running.push(_of(message, OWN, n))
            for name, stream in zip(names, streams, strict=True):
                running.push(_of(next(stream), name, n))
            appended = count(message.text())
            alone.read(steady(running.om.get_context(message.thread_id, OWN)), appended, message.thread_id)
            context = running.om.get_context(message.thread_id, OWN, also=names)
            together.read(steady(context), appended, message.thread_id)
            now = [each.id for each in context.observations], _notes(context)
            if before and before[0] == now[0] and before[1] != now[1]:
                moved += 1
                joined += now[1][: len(before[1])] == before[1]
            before = now
            shown += sum(block.tokens for block in context.blocks if block.resource_id)
    contexts = len(talk.messages)
    return ComposedReplay(
        talk.name if hasattr(talk, "name") else "", len(others), contexts, round(100 * alone.share, 2),
        round(100 * together.share, 2), moved, joined, round(shown / max(contexts, 1)),
    )  # fmt: skip


def _of(message: Message, resource: str, n: int) -> Message:
    return msgspec.structs.replace(message, resource_id=resource, id=f"{message.id}-{n}")


def _notes(context: Context) -> list[str]:
    return [block.text for block in context.blocks if block.stable and block.kind in {"reflection", "observations"}]


def as_lines(found: Sequence[ComposedReplay]) -> list[str]:
    """The figures as a table."""
    rows = [
        f"| {each.talk} | {each.contexts} | {each.alone:.2f} | {each.composed:.2f} | {each.moved} | {each.joined} | {each.shown:,} |"
        for each in found
    ]
    head = "| conversation | contexts | prefix share alone, % | composed, % | changed between own activations | at the end only | tokens of others |"
    return [head, "|---|---|---|---|---|---|---|", *rows]
