"""What one memory holds, read at one instant: all that a context is made of."""

import msgspec

from om_api.domain.messages import Message
from om_api.domain.values import Chunk, Generation, Record, Scope, Stored, ThreadState
from om_api.domain.working_memory import KeptFields


class Snapshot(msgspec.Struct, kw_only=True):
    """Everything a scope's context is made of, read at one instant.

    `messages` are the own thread's raw messages, sealed ones included, by score; `others` the newest raw messages of
    other threads (oldest first in each) with how many each holds in `other_counts`. `signing_key` is the resource's
    secret, "" while it has none. `working` are the working memories of the thread and, under "", of the resource. `stands_for`
    is the thread that the name stands for by which it was asked for, "" where that is no alias.
    """

    scope: Scope
    thread: ThreadState
    record: Record
    messages: list[Message]
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
