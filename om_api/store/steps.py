"""Talking to Redis as steps: logic yields what it wants done and is sent the reply, so that it never touches a connection.

The same generator is driven by a blocking client (`Connection`) or by an asyncio one; there is no twin to keep by hand.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from hiredis import pack_command

from om_api.errors import NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")


class Verb(NamedTuple):
    """Run one of our scripts."""

    name: str
    keys: Sequence[str]
    args: Sequence[Any]


class Batch(NamedTuple):
    """Send commands in one round trip; `atomic` wraps them in MULTI/EXEC. Replies come as a list.

    `once`: never sent again when there was no answer, since what was done already would be done twice. `slim`: hundreds of
    small reads, which one script call makes for a fraction of what it costs to send and answer each of them. `packed`: the
    same commands as `pack` writes them, for what is asked again and again; the replies come as the server gives them then.
    """

    commands: Sequence[tuple[Any, ...]]
    atomic: bool = True
    writes: bool = False
    once: bool = False
    slim: bool = False
    packed: bytes = b""


def pack(commands: Sequence[tuple[Any, ...]], *, atomic: bool = True) -> bytes:
    """Commands as they go over the wire, within MULTI and EXEC if `atomic`."""
    return b"".join(map(pack_command, [("MULTI",), *commands, ("EXEC",)] if atomic else commands))


class Wait(NamedTuple):
    """Let time pass before the next look, in seconds."""

    seconds: float


Step: TypeAlias = Verb | Batch | Wait
Steps: TypeAlias = Generator[Step, Any, T]


def if_permitted(steps: Steps[T], otherwise: T) -> Steps[T]:
    """What steps return, or something else where an ACL user may not do them: what is nice to know, not what is needed."""
    try:
        return (yield from steps)
    except NotPermittedError:
        return otherwise


def together(*several: Steps[Any]) -> Steps[list[Any]]:
    """Do steps side by side, and return what each returns: what they ask for at the same time is asked in one round trip.

    Only plain batches are joined; on a Cluster they must ask one slot. An error ends them all: no `if_permitted` within.
    """
    returned: list[Any] = [None] * len(several)
    replies: dict[int, Any] = dict.fromkeys(range(len(several)))
    while replies:
        replies = yield from _asked(_sent(several, replies, returned))
    return returned


def _sent(several: Sequence[Steps[Any]], replies: Mapping[int, Any], returned: list[Any]) -> dict[int, Step]:
    asking: dict[int, Step] = {}
    for number, reply in replies.items():
        try:
            asking[number] = several[number].send(reply)
        except StopIteration as end:
            returned[number] = end.value
    return asking


def _asked(steps: Mapping[int, Step]) -> Steps[dict[int, Any]]:
    plain = {number: step for number, step in steps.items() if isinstance(step, Batch) and _is_plain(step)}
    replies = {}
    for number in steps.keys() - plain.keys():
        replies[number] = yield steps[number]
    if plain:
        found = iter((yield _joined(list(plain.values()))))
        replies |= {number: list(islice(found, len(step.commands))) for number, step in plain.items()}
    return replies


def _is_plain(step: Batch) -> bool:
    return not (step.once or step.slim or step.packed)


def _joined(batches: Sequence[Batch]) -> Batch:
    commands = [command for batch in batches for command in batch.commands]
    return Batch(commands, any(batch.atomic for batch in batches), any(batch.writes for batch in batches))
