"""Memories of a realistic mix, made by the real client and workers: what agents of a large store are copies of."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from om_api import Message
from om_bench.harness.pipeline import Pipeline
from om_bench.speed.extracting import spoken
from om_workers.work.sweep import Sweeper

SETTINGS = ("message_threshold=2000", "observation_threshold=1500")  # by those that are shipped an agent has 100 kB


class Kind(NamedTuple):
    """How many agents in a hundred are so, how many memories are made for them, and what was said in each.

    `sittings` of `messages` each were observed, `reflections` made of all that was noted before, and up to `raw` messages
    came since, in `threads`.
    """

    name: str
    percent: int
    templates: int
    raw: int
    sittings: int = 0
    messages: int = 0
    reflections: int = 0
    threads: int = 1

    def __str__(self) -> str:
        """The kind for people."""
        observed = f"{self.sittings} sittings of {self.messages} messages observed, " if self.sittings else ""
        condensed = f"{self.reflections} generations, " if self.reflections else ""
        return f"{self.percent} % {self.name}: {observed}{condensed}up to {self.raw} raw messages, {self.threads} thread(s)"


NEW = Kind("new", 83, 24, raw=12)
KNOWN = Kind("known", 15, 9, raw=12, sittings=2, messages=20)
OLD = Kind("old", 2, 3, raw=20, sittings=4, messages=30, reflections=2, threads=3)
MIX = (NEW, KNOWN, OLD)


def make_templates(running: Pipeline) -> dict[Kind, list[str]]:
    """Make the memories of every kind; the names of their resources."""
    names = {kind: [_name(kind, number) for number in range(kind.templates)] for kind in MIX}
    for kind, own in names.items():
        for number, name in enumerate(own):
            _converse(running, kind, name, number)
    Sweeper(running.services).sweep()
    running.work()
    return names


def _name(kind: Kind, number: int) -> str:
    return f"template-{kind.name}-{number:03}"


def _converse(running: Pipeline, kind: Kind, name: str, number: int) -> None:
    said = spoken(random.Random(name))
    for sitting in range(kind.sittings):
        thread = f"t-{sitting % kind.threads}"
        running.push(*_messages(said, kind.messages, name, thread))
        running.end_session(thread, name)
        if sitting >= kind.sittings - kind.reflections:
            running.om.force_reflect(name)
            running.work()
    running.push(*_messages(said, 1 + kind.raw * number // kind.templates, name, "t-0"))


def _messages(said: Iterator[Message], count: int, resource: str, thread: str) -> list[Message]:
    """What comes next of a conversation, said now."""
    return [
        Message(role=("user", "assistant")[n % 2], content=one.content, thread_id=thread, resource_id=resource)
        for n, one in enumerate(islice(said, count))
    ]
