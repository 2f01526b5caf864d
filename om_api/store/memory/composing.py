"""What other memories have noted, read in the round trip that reads the memory whose context they are composed into."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from om_api.domain.snapshot import ComposedNotes
from om_api.domain.values import Scope, Stored
from om_api.store.driver.replies import Pair, scored
from om_api.store.driver.steps import Batch, Words
from om_api.store.memory.context_query import HeldMemory
from om_api.store.memory.decode_cache import NO_MEMBERS, Met
from om_api.store.memory.decoding import as_generation, stored_of
from om_api.store.memory.keys import Keys

_VERSION = ("epoch", "generation", "seq")
_COMMANDS = 5  # for each memory
WINDOW = 500  # observations; the newest one to two windows are read, and more have no room in a usual budget
_TIMES_REFLECTED = 3  # a generation is kept as it was read, as it says, and in a block


class NotesAnswer(NamedTuple):
    """The replies about one memory, told apart: `word` is its scope, `known` how many observations it has."""

    word: bytes | None
    record: dict[bytes, bytes]
    observations: list[Pair]
    known: int
    reflections: Sequence[bytes]


class _HeldNotes(NamedTuple):
    """What is held of one memory, as it was read and as it says; `unread` older observations were not read."""

    memory: HeldMemory
    met: Met[Stored]
    reflected: int
    unread: int

    @property
    def weight(self) -> int:
        return self.met.weight + _TIMES_REFLECTED * self.reflected


class ComposedReader:
    """Reads the notes of other memories: of each only what came since the last look, and what replaced it.

    Of many observations it reads the newest. The first of them changes once in WINDOW observations, so that what is shown
    seldom moves, and depends on the number of observations alone, so that two processes show the same.

    In what keeps a memory for each thread there is none to be shown: of such a one None is told.
    """

    def __init__(self) -> None:
        self._held: dict[str, _HeldNotes] = {}

    @property
    def weight(self) -> int:
        """About how many bytes of memory is taken by what is held, with what is rendered of it."""
        return sum(held.weight for held in tuple(self._held.values()))

    def commands(self, keys: Keys, resources: Iterable[str]) -> list[Words]:
        """What is to be asked, five commands for each memory."""
        return [command for resource in resources for command in self._asked(keys, resource)]

    def _asked(self, keys: Keys, resource: str) -> list[Words]:
        of, scope, held = keys.of(resource), Scope(resource), self._held.get(resource)
        names = of.observations(scope)
        since = format(held.memory.observations[-1][1], ".17g") if held and held.memory.observations else ""
        newest: Words = ("+inf", since, "BYSCORE", "REV", "LIMIT", 0, 2 * WINDOW) if since else (-2 * WINDOW, -1)
        return [
            ("GET", of.scope),
            ("HMGET", of.record(scope), *_VERSION),
            ("ZRANGE", names, *newest, "WITHSCORES"),
            ("ZCARD", names),
            ("ZRANGE", of.reflections(scope), -1, -1),
        ]

    def take(self, resources: Sequence[str], replies: Sequence[Any]) -> dict[str, ComposedNotes | None] | None:
        """What the memories say, by name; None where one is another than was held, which is forgotten: ask again."""
        found: dict[str, ComposedNotes | None] = {}
        again = [name for name, answer in _answers(resources, replies) if not self._taken(name, answer, found)]
        for name in again:
            self._held.pop(name, None)
        for name in self._held.keys() - {*resources}:
            self._held.pop(name, None)
        return None if again else found

    def _taken(self, resource: str, answer: NotesAnswer, found: dict[str, ComposedNotes | None]) -> bool:
        held = self._held.get(resource)
        if answer.word == b"thread":
            found[resource] = None
            return True
        whole = held.memory.whole(answer._replace(known=answer.known - held.unread)) if held else answer.observations
        if whole is None:
            return False
        unread = max(0, (answer.known // WINDOW - 1) * WINDOW)
        whole = whole[unread - answer.known :] if unread else whole
        met: Met[Stored] = (held.met if held else NO_MEMBERS).again(whole, stored_of)
        of = answer.record.get(b"epoch"), answer.record.get(b"generation")
        memory = HeldMemory(Scope(resource), *of, whole, {}, {})
        self._held[resource] = _HeldNotes(memory, met, sum(map(len, answer.reflections)), unread)
        generation = as_generation(answer.reflections[0]) if answer.reflections else None
        version = tuple(answer.record.get(name.encode()) for name in _VERSION)
        found[resource] = ComposedNotes(
            resource=resource, observations=met.values, generation=generation, version=version, unread=unread
        )
        return True

    def read(self, keys: Keys, resources: Sequence[str]) -> Batch[dict[str, ComposedNotes | None] | None]:
        """The same in a round trip of its own."""
        return Batch(self.commands(keys, resources), lambda replies: self.take(resources, list(replies)))


def _answers(resources: Sequence[str], replies: Sequence[Any]) -> Iterator[tuple[str, NotesAnswer]]:
    for n, resource in enumerate(resources):
        word, versions, observations, known, reflections = replies[n * _COMMANDS : (n + 1) * _COMMANDS]
        record = {name.encode(): said for name, said in zip(_VERSION, versions, strict=True) if said is not None}
        pairs = scored(observations)
        if pairs and pairs[0][1] > pairs[-1][1]:  # what came since the last look is asked for newest first
            pairs.reverse()
        yield resource, NotesAnswer(word, record, pairs, int(known), reflections)
