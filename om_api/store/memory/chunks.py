"""From a sealed chunk to a ready one: attempts, its observation, and halves where no model can observe it whole."""

from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.values import Chunk, Observation, Outcome, Scope, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys

MOST_CRASHES = 2  # of one chunk; then it is halved, or its one message quarantined, and no model is asked


class Crash(NamedTuple):
    """A chunk that a worker process froze at: its crashes so far, this one included, its thread and its size."""

    crashes: int
    thread: str
    messages: int
    message_tokens: int


def begin(keys: Keys, resource: str, chunk: str, attempts: int = 1) -> Steps[int | Literal["crashed"] | None]:
    """Count an attempt on a chunk (-1 gives one back, if any is counted); the attempts so far, or None when it is gone or ready.

    "crashed", without counting one, if MOST_CRASHES worker processes froze while they observed it.
    """
    return (yield from Verb("begin", [keys.of(resource).chunk(chunk)], [attempts, MOST_CRASHES], _begun))


def _begun(reply: Any) -> int | Literal["crashed"] | None:
    if reply == b"crashed":
        return "crashed"
    return None if reply == b"superseded" else int(reply)


def crashed(keys: Keys, resource: str, chunk: str, by: str) -> Steps[Crash | None]:
    """Count a crash of a chunk, once for each report `by`; None when the chunk is gone or ready."""
    return (yield from Verb("crashed", [keys.of(resource).chunk(chunk)], [by], _crash))


def _crash(reply: Any) -> Crash | None:
    if not reply:
        return None
    crashes, thread, messages, tokens = reply
    return Crash(int(crashes), thread.decode(), int(messages), int(tokens))


def buffer(
    keys: Keys, resource: str, observation: Observation, by: str, segment: bytes = b"", rejected: bytes = b""
) -> Steps[Outcome]:
    """Store a chunk's observation (its id is the chunk's) and its segment, unless the chunk is gone or already ready.

    Time 0: two workers observe one chunk. Time 5: the first stores its result. Time 6: the second changes nothing.
    """
    of = keys.of(resource)
    member = msgspec.json.encode(observation)
    names = [of.chunk(observation.id), of.rejected, of.segment(observation.id)]
    return (yield from Verb("buffer", names, [by, member, observation.tokens, rejected, segment], outcome))


def split(keys: Keys, scope: Scope, chunk: Chunk, n: int, first_tokens: int, attempts: int) -> Steps[Outcome]:
    """Replace a chunk that cannot be observed by two: its first n messages, and the rest, each with `attempts` counted."""
    of, whole = keys.of(scope.resource), root(chunk.id)
    first, second = f"{whole}.{new_id()}", f"{whole}.{new_id()}"
    names = [of.record(scope), of.chunks(scope)]
    names += [name for part in (chunk.id, first, second) for name in (of.chunk(part), of.sealed(part))]
    return (yield from Verb("split", names, [chunk.id, first, second, n, first_tokens, attempts], outcome))


def root(chunk: str) -> str:
    """The id of the chunk as it was sealed, of which a chunk is a half, or a half of a half."""
    return chunk.partition(".")[0]
