"""Where all that is kept of a resource's messages stands at one instant: raw, sealed, or behind an observation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.histories.retraction import marks_of
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, fields, number, scored
from om_api.store.driver.steps import Batch, Steps, Words
from om_api.store.memory.decoding import forgetful_threads, unsealed_threads
from om_api.store.memory.keys import Keys, ResourceKeys

_TRIES = 5
_LEAST = 8  # raw messages of each thread that are read, however many threads there are


class Listing(NamedTuple):
    """What there was at the server's time `now` (Unix ms).

    `chunks` are those sealed and not yet activated, `sources` the observations that have messages behind them, each with the
    thread it is of ("": a chunk whose thread nobody said) and the epoch of its memory; `raw` is what is unsealed, by thread.
    `scope` is the stored word, None while nothing was ever sealed. `archived`: how many things stand in the archive.
    `memories` are the existing ones, `retracted` the marks of retracted messages, by thread.

    `unsealed` is how many messages are raw and counted. If only the `newest` ones of each thread were read (0: all),
    `skipped` is how many older ones it has. `forgetful` are the threads that leave no memory.
    """

    now: int
    scope: str | None
    threads: frozenset[str]
    chunks: Mapping[str, "MemoryPlace"]
    sources: Mapping[str, "MemoryPlace"]
    raw: Mapping[str, list[Pair]]
    archived: int = 0
    memories: Sequence["MemoryPlace"] = ()
    unsealed: int = 0
    newest: int = 0
    skipped: Mapping[str, int] = {}
    retracted: Mapping[str, frozenset[bytes]] = {}
    forgetful: frozenset[str] = frozenset()

    def newest_of(self, most: int | None) -> int:
        """How many raw messages of each thread to read for about `most` in all: a power of two, or 0 for all."""
        if most is None or self.unsealed <= most:
            return 0
        return max(_LEAST, 1 << (most // max(1, len(self.threads))).bit_length() >> 1)


class MemoryPlace(NamedTuple):
    """Whose a chunk or an observation is: its thread, and the memory, within whose epoch it never changes.

    `generation` is the one in force there.
    """

    thread: str
    scope: Scope
    epoch: str
    generation: str


def listing(
    keys: Keys,
    resource: str,
    threads: frozenset[str] = frozenset(),
    word: str | None = None,
    most: int | None = None,
    newest: int = 0,
) -> Steps[Listing]:
    """Read it in one round trip where `threads` names every thread, and `word` the scope, of the last look; else in more.

    Of a backlog of more than `most` raw messages (None: of none) only the newest of each thread are read; `newest` is how many
    the last look read of each.

    Time 0: a message of a thread that nobody named is acknowledged. Time 1: we read which threads there are. Time 2: we read
    again, that thread too. So whatever was acknowledged before this was asked is in it, whenever it is sealed or activated.
    """
    of = keys.of(resource)
    for _ in range(_TRIES):
        found = yield from _read(of, resource, threads, word, newest)
        wanted = found.newest_of(most)
        if found.threads <= threads and found.scope == word and wanted == newest:
            return found
        threads, word, newest = threads | found.threads, found.scope, wanted
    return found


def _read(of: ResourceKeys, resource: str, threads: frozenset[str], word: str | None, newest: int) -> Batch[Listing]:
    names, apart = sorted(threads), word == "thread"
    asked: list[Words] = [
        ("TIME",),
        ("ZCARD", of.archived),
        ("GET", of.scope),
        ("HGETALL", of.tokens),
        ("ZRANGE", of.threads, 0, -1),
    ]
    scopes = [Scope(resource, name) for name in names] if apart else [Scope(resource)]
    for scope in scopes:
        asked += [("ZRANGE", of.chunks(scope), 0, -1), ("HMGET", of.record(scope), "epoch", "generation")]
    for name in names:
        asked += [("ZRANGE", of.messages(name), -newest, -1, "WITHSCORES"), ("ZRANGE", of.sources(name), 0, -1)]
        asked.append(("HGET", of.known(name), "@"))
        asked += [("ZCARD", of.messages(name))] if newest else []
    return Batch(asked, lambda replies: _listing(replies, names, scopes, newest))


def _listing(replies: Iterator[Any], names: list[str], scopes: list[Scope], newest: int) -> Listing:
    time, archived, stored = next(replies), next(replies), next(replies)
    tokens, met = fields(next(replies)), next(replies)
    chunks, memories = dict[str, MemoryPlace](), dict[str | None, MemoryPlace]()
    for scope in scopes:
        listed, version = next(replies), next(replies)
        memories[scope.thread] = place = MemoryPlace(scope.thread or "", scope, *map(_text, version))
        chunks |= dict.fromkeys(map(_text, listed), place)
    raw, sources, skipped = dict[str, list[Pair]](), dict[str, MemoryPlace](), dict[str, int]()
    retracted = dict[str, frozenset[bytes]]()
    for name in names:
        raw[name] = scored(next(replies))
        place = (memories.get(name) or memories[None])._replace(thread=name)
        sources |= dict.fromkeys(map(_text, next(replies)), place)
        retracted[name] = marks_of(next(replies))
        if newest:
            skipped[name] = number(next(replies)) - len(raw[name])
    counted = unsealed_threads(tokens)
    threads, unsealed = frozenset({*counted, *map(_text, met)}), sum(n for _, n in counted.values())
    now = int(time[0]) * 1000 + int(time[1]) // 1000
    places = [place for place in memories.values() if place.epoch]
    word, there = _text(stored) or None, number(archived)
    forgetful = frozenset(forgetful_threads(tokens))
    return Listing(
        now, word, threads, chunks, sources, raw, there, places, unsealed, newest, skipped, retracted, forgetful
    )


def _text(name: bytes | None) -> str:
    return name.decode() if name else ""
