"""Everything that one scope's memory holds, its history included, for changes that are made of all of it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from om_api.domain.notes.pins import Pin, pins_of
from om_api.domain.values import Chunk, Generation, Scope, Stored
from om_api.store.driver.replies import as_fields, as_hash, as_pairs
from om_api.store.driver.steps import Steps, batch, by_name, each
from om_api.store.memory.decoding import as_generation, as_stored, whole_number
from om_api.store.memory.keys import Keys, histories

SHARED_IN = "shared_in"  # of a record's fields: since when another memory shares something with it
TOLD = "shared|"  # of a record's fields: with the name of another memory, up to where that one was told
_OF_A_CHUNK = (
    b"thread",
    b"tokens",
    b"messages",
)  # all that a change needs: what a worker noted of its tries may be garbled


class Content(NamedTuple):
    """A scope's memory as it was read; `histories` is what its generations replaced, as far as it has not expired.

    What has a seq up to `pool_seq` stands in the order of the pool that it came from. `pinned` is what the record says of
    pins, as it was read; `created_at` (Unix ms, "" = never) is since when there is one, and `told` up to which seq each
    other memory was told what it is to be told.
    """

    scope: Scope
    epoch: str
    seq: str
    generation: str
    chunks: list[Chunk]
    observations: list[Stored]
    generations: list[tuple[int, bytes]]
    histories: dict[int, list[Stored]]
    pool_seq: int = 0
    pinned: str = ""
    created_at: str = ""
    told: Mapping[str, float] = {}

    @property
    def in_force(self) -> Generation | None:
        """The newest generation."""
        return as_generation(self.generations[-1][1]) if self.generations else None

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The lines that are pinned."""
        return pins_of(self.pinned)

    @property
    def history(self) -> list[Stored]:
        """What its generations stand for, as far as it has not expired."""
        return [stored for history in self.histories.values() for stored in history]

    def of_thread(self, thread: str) -> "Content":
        """The same with the chunks and observations of one thread alone."""
        chunks = [chunk for chunk in self.chunks if chunk.thread == thread]
        histories = {n: _of_thread(history, thread) for n, history in self.histories.items()}
        return self._replace(chunks=chunks, observations=_of_thread(self.observations, thread), histories=histories)


def _of_thread(stored: Iterable[Stored], thread: str) -> list[Stored]:
    return [each for each in stored if each.observation.thread_id == thread]


def _chunk(name: str, seq: float, said: Sequence[bytes | None]) -> Chunk:
    thread, tokens, messages = ((value or b"").decode("utf-8", "replace") for value in said)
    return Chunk(id=name, thread=thread, seq=seq, tokens=whole_number(tokens), messages=whole_number(messages))


def content(keys: Keys, scope: Scope) -> Steps[Content]:
    """Read a scope's memory, in two round trips; the second cannot be of another memory unless the epoch is."""
    of = keys.of(scope.resource)
    names, record, observations, generations = yield from batch(
        as_pairs("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"),
        as_hash("HGETALL", of.record(scope)),
        as_pairs("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES").then(as_stored),
        as_pairs("ZRANGE", of.reflections(scope), 0, -1, "WITHSCORES"),
    )
    reached = record.get(b"generation", b"0").decode()
    chunks, replaced = yield from batch(
        each(as_fields("HMGET", of.chunk(name.decode()), *_OF_A_CHUNK) for name, _ in names),
        by_name(
            histories(whole_number(reached)), lambda n: as_pairs("ZRANGE", of.reflected(scope, n), 0, -1, "WITHSCORES")
        ),
        atomic=False,
    )
    return Content(
        scope,
        record.get(b"epoch", b"").decode(),
        record.get(b"seq", b"0").decode(),
        reached,
        [_chunk(name.decode(), seq, said) for (name, seq), said in zip(names, chunks, strict=True)],
        observations,
        [(int(n), member) for member, n in generations],
        {n: as_stored(pairs) for n, pairs in replaced.items()},
        whole_number(record.get(b"pool_seq", b"").decode("utf-8", "replace")),
        record.get(b"pins", b"").decode(),
        record.get(b"created_at", b"").decode(),
        _told(record),
    )


def _told(record: Mapping[bytes, bytes]) -> dict[str, float]:
    found = dict[str, float]()
    for name, seq in record.items():
        if name.startswith(TOLD.encode()):
            with suppress(ValueError):  # the hash is open to others
                found[name.decode()[len(TOLD) :]] = float(seq)
    return found
