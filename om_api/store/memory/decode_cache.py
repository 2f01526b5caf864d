"""What a reader decoded at its last look, and its weight: a member met again in its old place is not decoded again."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from om_api.domain.caching import Memoized, shared
from om_api.domain.messages import Message
from om_api.domain.values import Stored
from om_api.store.driver.replies import Pair
from om_api.store.driver.steps import pack
from om_api.store.memory.context_query import HeldMemory
from om_api.store.memory.decoding import as_record, message_of, stored_of

T = TypeVar("T")
_ENTRY = 1_200  # an empty message: its member, score, value, block and turn, and its place in the lists of them
_RENDERED = 3  # where tags are escaped what is said stands in the value, in a block, and in a turn or the text of all
_NAME = 60  # an id of usual length
FIELD = 150  # a field of a hash, without its value


class Met(NamedTuple, Generic[T]):
    """Members with their scores as they were read, and one for one what they say.

    `ordered`: they come as one sorted set has them, by score and then by bytes, and none comes twice. `weight` is about how
    many bytes of memory all of it takes, with what is rendered of it.
    """

    pairs: list[Pair]
    values: list[T]
    members: frozenset[bytes] = frozenset()
    ordered: bool = True
    weight: int = 0

    def again(self, pairs: list[Pair], decode: Callable[[Pair], T]) -> "Met[T]":
        """What was read now, of which only what stands behind the first difference is decoded."""
        same = shared(self.pairs, pairs)
        if same == len(pairs) == len(self.pairs):
            return self
        old, new = (self if same == len(self.pairs) else self._first(same)), pairs[same:]
        fresh = frozenset(member for member, _ in new)
        ordered = (
            old.ordered and len(fresh) == len(new) and not fresh & old.members and _ascend([*old.pairs[-1:], *new])
        )
        values = [decode(pair) for pair in new]
        weight = old.weight + sum(map(weight_of, new, values))
        return Met([*old.pairs, *new], [*old.values, *values], old.members | fresh, ordered, weight)

    def _first(self, n: int) -> "Met[T]":
        pairs, values = self.pairs[:n], self.values[:n]
        members = frozenset(member for member, _ in pairs)
        return Met(pairs, values, members, self.ordered or not n, sum(map(weight_of, pairs, values)))


NO_MEMBERS: Met[Any] = Met([], [])


class Past:
    """What was met at the last look at one thread's context. Threads may share it: the worst is decoding once more.

    What it gives is given to every look: nobody may change it.
    """

    def __init__(self) -> None:
        self.held: HeldMemory | None = None
        self.pack = Memoized(pack)
        self.record = Memoized(as_record)
        self.beside = 0  # bytes of what was read besides observations and messages, and is kept by whoever renders it
        self._observations: Met[Stored] = NO_MEMBERS
        self._messages: Mapping[str, Met[Message | None]] = {}

    @property
    def weight(self) -> int:
        """About how many bytes of memory is taken by what was met, with what is rendered of it."""
        ready = sum(map(weight_of_hash, self.held.ready.values())) if self.held else 0
        return self.beside + ready + self._observations.weight + sum(met.weight for met in self._messages.values())

    def holds(self, thread: str) -> bool:
        """Whether anything that was met is this thread's own."""
        own = self._messages.get(thread)
        return bool(own and own.pairs) or any(
            seen.observation.thread_id == thread for seen in self._observations.values
        )

    def observations(self, pairs: list[Pair]) -> Sequence[Stored]:
        """Observations with their seq, in order."""
        self._observations = met = self._observations.again(pairs, stored_of)
        return met.values

    def messages(self, raw: Mapping[str, list[Pair]], resource: str) -> dict[str, list[Message]]:
        """Each thread's messages as a sorted set orders them, each once; malformed ones are left out."""
        before = self._messages
        now = {
            thread: before.get(thread, NO_MEMBERS).again(pairs, partial(message_of, thread=thread, resource=resource))
            for thread, pairs in raw.items()
        }
        self._messages = now
        return {thread: _in_order(met) for thread, met in now.items()}


def _ascend(pairs: Sequence[Pair]) -> bool:
    return all((a[1], a[0]) < (b[1], b[0]) for a, b in pairwise(pairs))


def _in_order(met: Met[Message | None]) -> list[Message]:
    values = met.values
    if not met.ordered:
        unique = {member: (score, member, value) for (member, score), value in zip(met.pairs, met.values, strict=True)}
        values = [value for _, _, value in sorted(unique.values(), key=lambda entry: entry[:2])]
    return [message for message in values if message is not None]


def weight_of(pair: Pair, value: object) -> int:
    """About how many bytes of memory a member takes, with what it says and what is rendered of that."""
    return _ENTRY + len(pair[0]) + _said(value)


def weight_of_hash(fields: Mapping[bytes, bytes]) -> int:
    """What a hash takes that is kept as it was read."""
    return FIELD * len(fields) + sum(map(len, fields.values()))


def _said(value: object) -> int:
    if isinstance(value, Message):
        beside = _deep(value.metadata) if value.metadata else 0
        if isinstance(value.content, str):
            return beside + _RENDERED * sys.getsizeof(value.content)
        return beside + _RENDERED * _deep(value.content)
    if isinstance(value, Stored):
        said = value.observation
        return _RENDERED * sys.getsizeof(said.text) + _NAME * len(said.message_ids)
    return 0


def _deep(value: Any) -> int:
    """What nested lists and dicts take, with all that is in them but names: of these the decoder makes one for all."""
    size, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        size += sys.getsizeof(one)
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return size
