"""Recall across sessions: what was told in one thread, weeks ago, is asked for in another."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from om_api.values import Message
    from om_workers.bench.pipeline import Pipeline

WEEK_MS = 7 * 86_400_000
APART = 3  # weeks between what is told and what is asked
_BATCH = 20  # messages that one sitting pushes together


class Fact(msgspec.Struct, frozen=True):
    """A planted fact: a line of a context, or two neighbouring ones, must hold every key."""

    id: str
    keys: tuple[str, ...]
    kind: str = ""


def across(running: Pipeline, told: Sequence[Message], after: Sequence[Message]) -> str:
    """What an agent reads in a new thread, after it was `told` things in one and talked of other things in another since.

    The messages are moved in time: `told` ends six weeks ago, `after` three.
    """
    now = time.time_ns() // 1_000_000
    for weeks, messages in ((2 * APART, told), (APART, after)):
        moved = list(_moved(messages, now - weeks * WEEK_MS))
        for start in range(0, len(moved), _BATCH):
            running.push(*moved[start : start + _BATCH])
        running.end_session(moved[-1].thread_id, moved[-1].resource_id)
    return running.context("asking", told[0].resource_id).text


def _moved(messages: Sequence[Message], end_ms: int) -> Iterable[Message]:
    shift = end_ms - max(message.at for message in messages)
    for message in messages:
        yield msgspec.structs.replace(message, at=message.at + shift, timestamp=message.at + shift)


def recalled(text: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that a context holds."""
    lines = text.lower().splitlines()
    pairs = [f"{one}\n{two}" for one, two in pairwise([*lines, ""])]
    return [fact for fact in facts if any(all(key.lower() in pair for key in fact.keys) for pair in pairs)]
