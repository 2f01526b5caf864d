"""What the contexts really served amounted to, in tokens, beside the raw history that they stand for: kept here until told."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from om_api.context import Block
from om_api.domain.caching import LRU, shared
from om_api.domain.snapshot import Snapshot

TELL_S = 30.0  # a resource's figures are sent at most this often
REMEMBERED = 1_000  # threads, and resources not told yet; of the longest unused the figures are lost
MOST = 8 * 2**20  # bytes of what is remembered of threads
_THREAD, _HASH = 500, 50  # bytes
WHATS = ("contexts", "tokens", "cached", "raw", "raw_cached")


class _Seen(NamedTuple):
    """A thread's last context: its blocks by hash, its raw history, what of that a reflection took in, the generation."""

    hashes: list[int]
    raw: int
    reflected: int
    generation: int


class ContextUsage:
    """The tally of one client; threads share it.

    For each context: its `tokens`; how many of them stand in leading blocks that are byte-identical with the thread's
    previous context (`cached`); the tokens of the thread's whole `raw` history; and how many of those were there at the
    previous context (`raw_cached`). Reads nothing: it looks at what a context was made of.
    """

    def __init__(self, every_s: float = TELL_S) -> None:
        self._every_s = every_s
        self._lock = threading.Lock()
        self._seen: LRU[tuple[str, str], _Seen] = LRU(REMEMBERED, MOST)
        self._sums: LRU[str, Counter[str]] = LRU(REMEMBERED)
        self._told: LRU[str, float] = LRU(REMEMBERED)

    def count(self, snapshot: Snapshot, blocks: Sequence[Block]) -> None:
        """Tally one context that was served."""
        resource, key = snapshot.scope.resource, (snapshot.scope.resource, snapshot.thread.id)
        hashes = [hash(block.text) for block in blocks]
        tokens = sum(block.tokens for block in blocks)
        with self._lock:
            before = self._seen.get(key)
            same = shared(before.hashes, hashes) if before else 0
            now = _Seen(hashes, *_history(snapshot, before))
            amounts = {
                "contexts": 1,
                "tokens": tokens,
                "cached": tokens - sum(block.tokens for block in blocks[same:]),
                "raw": now.raw,
                "raw_cached": min(now.raw, before.raw) if before else 0,
            }
            self._seen.put(key, now, _THREAD + _HASH * len(hashes))
            self._told.put(resource, self._told.get(resource, time.monotonic()))
            self._sums.put(resource, self._sums.get(resource, Counter()) + Counter(amounts))

    def due(self, resources: Iterable[str]) -> dict[str, Counter[str]]:
        """Take what was not told for so long that it is due, of some resources."""
        if not self._sums:
            return {}
        now = time.monotonic()
        with self._lock:
            ripe = [name for name in resources if name in self._sums and now - self._told.get(name, 0) >= self._every_s]
            for name in ripe:
                self._told.put(name, now)
            return self._take(ripe)

    def all(self) -> dict[str, Counter[str]]:
        """Take everything that was not told."""
        with self._lock:
            return self._take(self._sums)

    def _take(self, names: Iterable[str]) -> dict[str, Counter[str]]:
        return {name: sums for name in names if (sums := self._sums.pop(name)) is not None}

    def give_back(self, untold: Mapping[str, Counter[str]]) -> None:
        """Have figures told another time."""
        with self._lock:
            for resource, sums in untold.items():
                self._sums.put(resource, self._sums.get(resource, Counter()) + sums)


def _history(snapshot: Snapshot, before: _Seen | None) -> tuple[int, int, int]:
    """A thread's raw history in tokens, what of it a reflection took in, and the generation in force.

    In thread scope the record says it. In resource scope the record's total is that of all threads, and a reflection no
    longer tells them apart: what it took in is reckoned at this client's first look, by the thread's share of what is
    still held apart, and from then on by what goes from the observations, and by what an undo brings back to them.
    """
    generation, number = snapshot.generation, snapshot.generation.n if snapshot.generation else 0
    held = _held(snapshot)
    own = held[snapshot.thread.id]
    if snapshot.scope.thread is not None:
        reflected = _reflected(snapshot)
    elif before is None or number < before.generation:
        reflected = _reflected(snapshot) * own // (held.total() or 1)
    elif generation and number > before.generation:
        gone = before.raw - own
        reflected = max(0, gone) if generation.origin == "restore" else max(before.reflected, gone)
    else:
        reflected = before.reflected
    return own + reflected, reflected, number


def _held(snapshot: Snapshot) -> Counter[str]:
    """What a memory still holds apart by thread, in tokens of messages: observed, sealed and unsealed."""
    held: Counter[str] = Counter()
    for stored in snapshot.observations:
        held[stored.observation.thread_id] += stored.observation.message_tokens
    for chunk in snapshot.chunks:
        held[chunk.thread] += chunk.tokens
    for thread, (tokens, _) in snapshot.unsealed.items():
        held[thread] += tokens
    if not snapshot.thread.leaves_memory:
        held[snapshot.thread.id] += snapshot.thread.tokens
    return held


def _reflected(snapshot: Snapshot) -> int:
    """Tokens of the messages, of all threads, that reflections took in."""
    observed = sum(stored.observation.message_tokens for stored in snapshot.observations)
    return max(0, snapshot.record.observed_tokens - observed)
