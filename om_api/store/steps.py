"""Talking to Redis as steps: logic yields what it wants done and is sent the reply, so that it never touches a connection.

The same generator is driven by a blocking client (`Connection`) or by an asyncio one; there is no twin to keep by hand.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from om_api.errors import NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def pack(commands: Sequence[tuple[Any, ...]]) -> bytes:
    """Commands in MULTI/EXEC as they go over the wire."""
    return b"".join(map(_pack, [("MULTI",), *commands, ("EXEC",)]))


def _pack(command: tuple[Any, ...]) -> bytes:
    words = [str(word).encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


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
