"""All that one scope's memory holds, word for word, to find in it what is to be erased."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, as_bytes, as_fields, as_hash, as_pairs
from om_api.store.driver.steps import Steps, batch, by_name
from om_api.store.memory.content import Content, content
from om_api.store.memory.decoding import as_generation, message_of
from om_api.store.memory.keys import Keys


class Kept(NamedTuple):
    """A message and the bytes that are kept of it."""

    member: bytes
    message: Message


class Thread(NamedTuple):
    """What is raw of a thread, all members counted or not, how many of them are counted, and what is said of it."""

    raw: list[Kept]
    members: int
    counted: int
    fields: dict[str, str]

    @property
    def uncounted(self) -> bool:
        """Whether something waits for adoption."""
        return self.members != self.counted


class WholeMemory(NamedTuple):
    """A memory, its threads by name, the messages of its chunks and behind its observations, and what ready chunks say.

    `draft` is a reflection that was thought and covers nothing yet, with what was said to it, as it is kept; b"": there is none.
    """

    content: Content
    threads: Mapping[str, Thread]
    sealed: Mapping[str, list[Kept]]
    sources: Mapping[str, list[Kept]]
    ready: Mapping[str, bytes]
    draft: bytes

    def everything(self) -> Iterator[Kept]:
        """Each message that is kept."""
        for thread in self.threads.values():
            yield from thread.raw
        for kept in (*self.sealed.values(), *self.sources.values()):
            yield from kept

    @property
    def notes(self) -> list[str]:
        """Every line of notes, in whatever tier."""
        stored = [*self.content.observations, *self.content.history]
        texts = [each.observation.text for each in stored]
        texts += [as_generation(member).text for _, member in self.content.generations]
        return [line for text in texts for line in text.split("\n")]


def whole_memory(keys: Keys, scope: Scope, threads: Sequence[str]) -> Steps[WholeMemory]:
    """Read a scope's memory in three round trips; what they say together is proved when something of it is erased."""
    of = keys.of(scope.resource)
    found = yield from content(keys, scope)
    owners = {chunk.id: chunk.thread for chunk in found.chunks}
    behind = {each.observation.id: each.observation.thread_id for each in (*found.observations, *found.history)}
    raw, counts, said, states, sealed, (sources, draft) = yield from batch(
        by_name(threads, lambda name: as_pairs("ZRANGE", of.messages(name), 0, -1, "WITHSCORES")),
        as_hash("HGETALL", of.tokens),
        by_name(threads, lambda name: as_hash("HGETALL", of.thread(name))),
        by_name(owners, lambda name: as_fields("HMGET", of.chunk(name), "state", "observation")),
        by_name(owners, lambda name: as_pairs("ZRANGE", of.sealed(name), 0, -1, "WITHSCORES")),
        batch(
            by_name(behind, lambda name: as_pairs("ZRANGE", of.source(name), 0, -1, "WITHSCORES")),
            as_bytes("GET", of.draft(scope)),
        ),
        atomic=False,
    )
    return WholeMemory(
        found,
        {
            name: _thread(_kept(raw[name], name, scope.resource), raw[name], counts, name, said[name])
            for name in threads
        },
        {name: _kept(sealed[name], thread, scope.resource) for name, thread in owners.items()},
        {name: _kept(sources[name], thread, scope.resource) for name, thread in behind.items()},
        {name: says or b"" for name, (state, says) in states.items() if state == b"ready"},
        draft or b"",
    )


def _thread(
    kept: list[Kept], raw: Sequence[Pair], counts: Mapping[bytes, bytes], name: str, said: Mapping[bytes, bytes]
) -> Thread:
    fields = {field.decode("utf-8", "replace"): text.decode("utf-8", "replace") for field, text in said.items()}
    return Thread(kept, len(raw), int(counts.get(b"#" + name.encode(), 0)), fields)


def _kept(pairs: Sequence[Pair], thread: str, resource: str) -> list[Kept]:
    found = [(pair[0], message_of(pair, thread, resource)) for pair in pairs]
    return [Kept(member, message) for member, message in found if message is not None]
