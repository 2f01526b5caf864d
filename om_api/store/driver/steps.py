"""Talking to Redis as steps: logic says what it wants done and is given the reply, so that it never touches a connection.

The same generator is driven by a blocking client (`Connection`) or by an asyncio one; there is no twin to keep by hand.
`yield from` a step gives its reply as a value: a step knows how to read what the server answers.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

from hiredis import pack_command

from om_api.archive.protocol import Archive
from om_api.domain.errors import NotPermittedError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")
K = TypeVar("K")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
Words: TypeAlias = tuple[Any, ...]  # of one command
Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]  # of a client: it gives the reply, or an awaitable of it
Calls: TypeAlias = Generator[Call, Any, T]
_LIST: Any = list  # of bare replies: whoever takes it must say of what


class Replicas(NamedTuple):
    """How many replicas must hold a write before it counts, and how many ms they have.

    `mark` is a key of the write's slot that is written behind it: servers count the replicas of a connection's last write, and
    a push whose messages are known writes none.
    """

    number: int
    within_ms: int
    mark: str


@dataclass(slots=True)
class Verb(Generic[T_co]):
    """Run one of our scripts; `decode` makes a value of its reply.

    With `replicas` it ends in a NotReplicatedError where too few of them said in time that they hold what was written.
    """

    name: str
    keys: Sequence[str]
    args: Sequence[Any]
    decode: Callable[[object], T_co] = field(compare=False)
    replicas: Replicas | None = None

    def __iter__(self) -> "Steps[T_co]":
        return self.decode((yield self))


@dataclass(slots=True)
class Batch(Generic[T_co]):
    """Send commands in one round trip; `atomic` wraps them in MULTI/EXEC. `decode` takes its replies, one for each command.

    `once`: never sent again when there was no answer, since what was done already would be done twice. `slim`: hundreds of
    small reads, which one script call makes for a fraction of what it costs to send and answer each of them. `packed`: the
    same commands as `pack` writes them, for what is asked again and again; the replies come as the server gives them then.
    `at`: the node of a Cluster that is asked, for what is of no slot; otherwise each slot's commands go where it is served, and
    `atomic` holds within a slot.
    """

    commands: Sequence[Words]
    decode: Callable[[Iterator[object]], T_co] = field(default=_LIST, compare=False)
    atomic: bool = True
    writes: bool = False
    once: bool = False
    slim: bool = False
    packed: bytes = b""
    at: str = ""

    def __iter__(self) -> "Steps[T_co]":
        """Ask; a batch of no commands asks nothing."""
        replies: Any = (yield self) if self.commands else ()
        return self.decode(iter(replies))

    def then(self, make: Callable[[T_co], S]) -> "Batch[S]":
        """The same, whose value is what `make` makes of its value."""
        decode = self.decode
        how = self.atomic, self.writes, self.once, self.slim, self.packed, self.at
        return Batch(self.commands, lambda replies: make(decode(replies)), *how)

    def writing(self, *, once: bool = False) -> "Batch[T_co]":
        """The same, told to be a write."""
        return replace(self, writes=True, once=once)


class Node(NamedTuple):
    """A server of the store's: `host:port`, "" for the only one, and whether it takes writes."""

    address: str
    primary: bool = True


ALONE = Node("")


@dataclass(slots=True)
class Wait:
    """Let time pass before the next look, in seconds."""

    seconds: float

    def __iter__(self) -> "Steps[None]":
        yield self


class Nodes:
    """Every server of the store's: one, or all nodes of a Cluster; what is of no slot is asked of each."""

    def __iter__(self) -> "Steps[Sequence[Node]]":
        return (yield self)  # type: ignore[return-value]  # the driver gives nothing else to this step


@dataclass(slots=True)
class FromArchive(Generic[T_co]):
    """Ask the archive. Raises ArchiveError where it does not answer, or where this process was told of none."""

    ask: Callable[[Archive], T_co] = field(compare=False)

    def __iter__(self) -> "Steps[T_co]":
        return (yield self)  # type: ignore[return-value]  # the driver gives what was asked for


@dataclass(slots=True)
class Apart(Generic[T_co]):
    """Do something that takes its time and raises nothing; an event loop goes on meanwhile."""

    call: Callable[[], T_co] = field(compare=False)

    def __iter__(self) -> "Steps[T_co]":
        return (yield self)  # type: ignore[return-value]  # the driver gives what the call returns


class HasArchive:
    """Whether this process was told of an archive."""

    def __iter__(self) -> "Steps[bool]":
        return bool((yield self))


class Leniently:
    """From here on what the archive does not give is left out of what is read; its value is the list of why, which grows.

    Without it a read that needs the archive raises ArchiveError.
    """

    def __iter__(self) -> "Steps[list[str]]":
        return (yield self)  # type: ignore[return-value]  # the driver gives nothing else to this step


Step: TypeAlias = Verb[Any] | Batch[Any] | Wait | Apart[Any] | Nodes | FromArchive[Any] | HasArchive | Leniently
Steps: TypeAlias = Generator[Step, object, T]  # what a bare `yield` gives is nobody's to use
Askable: TypeAlias = Steps[T] | Batch[T] | Verb[T] | FromArchive[T]  # what `yield from` and `run` take


def each(batches: Iterable[Batch[T]], *, atomic: bool = True) -> Batch[list[T]]:
    """Batches of one kind as one batch; its value is the list of theirs."""
    several = list(batches)
    return _joined(several, lambda replies: [batch.decode(replies) for batch in several], atomic=atomic)


def by_name(names: Iterable[K], ask: Callable[[K], Batch[T]], *, atomic: bool = True) -> Batch[dict[K, T]]:
    """One batch for each of some names; its value is theirs, by name."""
    listed = list(names)
    return each(map(ask, listed), atomic=atomic).then(lambda found: dict(zip(listed, found, strict=True)))


@overload
def batch(a: Batch[A], b: Batch[B], /, *, atomic: bool = True) -> Batch[tuple[A, B]]: ...
@overload
def batch(a: Batch[A], b: Batch[B], c: Batch[C], /, *, atomic: bool = True) -> Batch[tuple[A, B, C]]: ...
@overload
def batch(
    a: Batch[A], b: Batch[B], c: Batch[C], d: Batch[D], /, *, atomic: bool = True
) -> Batch[tuple[A, B, C, D]]: ...
@overload
def batch(
    a: Batch[A], b: Batch[B], c: Batch[C], d: Batch[D], e: Batch[E], /, *, atomic: bool = True
) -> Batch[tuple[A, B, C, D, E]]: ...
@overload
def batch(
    a: Batch[A], b: Batch[B], c: Batch[C], d: Batch[D], e: Batch[E], f: Batch[F], /, *, atomic: bool = True
) -> Batch[tuple[A, B, C, D, E, F]]: ...
def batch(*several: Batch[Any], atomic: bool = True) -> Batch[Any]:
    """Batches of different kinds as one batch; its value is the tuple of theirs. How they are sent is said here alone."""
    return _joined(several, lambda replies: tuple([batch.decode(replies) for batch in several]), atomic=atomic)


def _joined(several: Sequence[Batch[Any]], decode: Callable[[Iterator[object]], T], *, atomic: bool) -> Batch[T]:
    commands, writes, slim = list[Words](), False, False
    for batch in several:
        commands += batch.commands
        writes |= batch.writes
        slim |= batch.slim
    return Batch(commands, decode, atomic, writes, slim=slim)


def at(node: Node, batch: Batch[T]) -> Batch[T]:
    """The same, asked of one node."""
    return replace(batch, at=node.address)


def pack(commands: Sequence[Words], *, atomic: bool = True) -> bytes:
    """Commands as they go over the wire, within MULTI and EXEC if `atomic`."""
    return b"".join(map(pack_command, [("MULTI",), *commands, ("EXEC",)] if atomic else commands))


def exact(score: float) -> str:
    """A double as Redis takes it, to its last bit."""
    return format(score, ".17g")


def if_permitted(steps: Askable[T], otherwise: T) -> Steps[T]:
    """What steps return, or something else where an ACL user may not do them: what is nice to know, not what is needed."""
    try:
        return (yield from steps)
    except NotPermittedError:
        return otherwise
