"""What one memory holds, read at one instant: all that a context is made of."""

import msgspec

from om_api.domain.messages import Message
from om_api.domain.thread_sections import runs, section
from om_api.domain.values import Chunk, Generation, KeptFields, Record, Scope, Stored, ThreadState


class ComposedNotes(msgspec.Struct, kw_only=True):
    """What another memory has noted, to be composed into a context: its observations and the generation in force.

    `max_tokens` is how much of it is shown; `version` moves when anything is activated in it, reflected or removed. `unread`
    older observations were not read.
    """

    resource: str
    observations: list[Stored]
    generation: Generation | None = None
    max_tokens: int = 4_000
    version: tuple[bytes | None, ...] = ()
    unread: int = 0


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


STARTS_WITHOUT = "the memory mode of this thread lets its contexts start without memory"


def own_part(snapshot: Snapshot) -> Snapshot:
    """What a context shows that starts without memory: the thread's messages, and the notes of its own messages.

    Lines of a reflection that are not in the thread's section are left out: they may be about other threads.
    """
    own = snapshot.thread.id
    return msgspec.structs.replace(
        snapshot,
        observations=[each for each in snapshot.observations if each.observation.thread_id == own],
        generation=snapshot.generation and _own_generation(snapshot.generation, own, snapshot.scope),
        others={},
        other_counts={},
        composed=[],
        left_out=snapshot.left_out | {notes.resource: STARTS_WITHOUT for notes in snapshot.composed},
    )


def _own_generation(generation: Generation, thread: str, scope: Scope) -> Generation | None:
    if scope.thread is not None:
        return generation
    found = (section(name, lines) for name, lines in runs(generation.text.split("\n"), {thread}) if name)
    text = "\n".join(line for lines in found for line in lines)
    extracted = {name: values for name, values in generation.extracted.items() if name == thread}
    if not (text or extracted):
        return None
    return msgspec.structs.replace(generation, text=text, tokens=0, extracted=extracted, pieces=())
