"""Recall across sessions: what was told in one thread, weeks ago, is asked for in another."""

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from om_api.domain import tokens
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.values import to_ms
from om_api.domain.wire import parse_member
from om_bench.harness.page import table
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.harness.talks import RESOURCE, read_text

WEEK_MS = 7 * 86_400_000
APART = 3  # weeks between what is told and what is asked
_BATCH = 20  # messages that one sitting pushes together


class Recall(msgspec.Struct, frozen=True):
    """What came of it at some settings: the facts of which there were `of`, and the tokens that an agent read."""

    settings: tuple[str, ...]
    recalled: int
    of: int
    missed: list[str]
    tokens: int


class PlantedFact(msgspec.Struct, frozen=True):
    """A planted fact: a line of a context, or two neighbouring ones, must hold every key."""

    id: str
    keys: tuple[str, ...]
    kind: str = ""


def read_told(file: Path, thread: str) -> list[Message]:
    """The messages of a file of JSON lines, each with its `timestamp`; InvalidInputError names the line that is none."""
    messages = []
    for number, line in enumerate(read_text(file).splitlines(), 1):
        try:
            messages.append(_parse(line, thread))
        except (InvalidInputError, msgspec.DecodeError) as error:
            raise InvalidInputError(f"{file}, line {number}: {error}") from error
    if not messages:
        raise InvalidInputError(f"{file}: holds no messages: a message as JSON on each line")
    return messages


def read_facts(file: Path) -> list[PlantedFact]:
    """The planted facts of a JSON file: [{"id": …, "keys": [word, …]}, …]; InvalidInputError where it is none."""
    try:
        facts = msgspec.json.decode(read_text(file), type=list[PlantedFact])
    except msgspec.DecodeError as error:
        raise InvalidInputError(f"{file}: {error}") from error
    if not facts:
        raise InvalidInputError(f"{file}: holds no facts")
    return facts


def measure(
    facts: Path, told: Path, after: Path, runs: Sequence[tuple[str, ...]], url: str | None = None
) -> list[Recall]:
    """How many of the facts an agent reads, once for each of `runs`, which are settings ("name=value").

    On a store of its own, or on that of `url`. Raises InvalidInputError, SettingsError and StoreError.
    """
    planted, first, second = read_facts(facts), read_told(told, "told"), read_told(after, "after")
    found = []
    for settings in runs:
        with pipeline(url, settings) as running:
            found.append(_judged(planted, across(running, first, second), settings))
    return found


def _judged(facts: Sequence[PlantedFact], text: str, settings: tuple[str, ...]) -> Recall:
    found = recalled(text, facts)
    missed = [fact.id for fact in facts if fact not in found]
    return Recall(settings, len(found), len(facts), missed, tokens.counter()(text))


def as_lines(runs: Sequence[Recall]) -> list[str]:
    """What came of every run, in Markdown."""
    rows = [
        [
            ", ".join(run.settings) or "defaults",
            f"{run.recalled} of {run.of}",
            f"{run.recalled / run.of:.0%}",
            run.tokens,
        ]
        for run in runs
    ]
    _, *lines = table(["settings", "facts in the context", "share", "tokens of the context"], rows)
    return lines


class _Timestamped(msgspec.Struct):
    timestamp: Any


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
    return running.om.get_context("asking", told[0].resource_id).text


def _parse(line: str, thread: str) -> Message:
    at = to_ms(msgspec.json.decode(line, type=_Timestamped).timestamp)
    if at is None:
        raise InvalidInputError("`timestamp` is no time: give Unix ms or ISO 8601")
    return parse_member(line.encode(), thread, RESOURCE, at)


def _moved(messages: Sequence[Message], end_ms: int) -> Iterable[Message]:
    shift = end_ms - max(message.at for message in messages)
    for message in messages:
        yield msgspec.structs.replace(message, at=message.at + shift, timestamp=message.at + shift)


def recalled(text: str, facts: Iterable[PlantedFact]) -> list[PlantedFact]:
    """The facts that a context holds."""
    lines = text.lower().splitlines()
    pairs = [f"{one}\n{two}" for one, two in pairwise([*lines, ""])]
    return [fact for fact in facts if any(all(key.lower() in pair for key in fact.keys) for pair in pairs)]
