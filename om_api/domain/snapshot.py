"""What one memory holds, read at one instant: all that a context is made of."""

import msgspec

from om_api.domain.messages import Message
from om_api.domain.values import Chunk, Generation, KeptFields, Record, Scope, Stored, ThreadState


class ComposedNotes(msgspec.Struct, kw_only=True):
    """What another memory has noted, to be composed into a context: its observations and the generation in force.

    `max_tokens` is how much of it is shown; `version` moves when anything is activated in it, reflected or removed.
    """

    resource: str
    observations: list[Stored]
    generation: Generation | None = None
    max_tokens: int = 4_000
    version: tuple[bytes | None, ...] = ()


class Snapshot(msgspec.Struct, kw_only=True):
    """Everything a scope's context is made of, read at one instant.

    `messages` are the own thread's raw messages, sealed ones included, by score, without those that are retracted; `unread` older
    ones were not read. Of the retracted `retracted` quotes what notes may hold, `valid_again` what came back that no note may
    hold; `marks` are those of all of them. `others` are the newest raw messages of other threads (oldest first in each),
    `other_counts` how many each holds. `signing_key` is the resource's secret, "" while it has none. `working` are the working
    memories of the thread and, under "", of the resource. `stands_for` is the thread that the name stands for by which it was
    asked for, "" where that is no alias. `composed` are other memories' notes, in the order they were asked for; `left_out`
    says of those that are not among them why.
    """

    scope: Scope
    thread: ThreadState
    record: Record
    messages: list[Message]
    unread: int = 0
    retracted: list[str] = []
    valid_again: list[str] = []
    marks: frozenset[bytes] = frozenset()
    chunks: list[Chunk]
    observations: list[Stored]
    generation: Generation | None = None
    others: dict[str, list[Message]] = {}
    other_counts: dict[str, int] = {}
    unsealed: dict[str, tuple[int, int]] = {}
    paused: bool = False
    working: dict[str, KeptFields] = {}
    signing_key: str = ""
    stands_for: str = ""
    now: int = 0
    composed: list[ComposedNotes] = []
    left_out: dict[str, str] = {}
