"""A whole resource at one instant: everything that lives, and the names of the messages behind its observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.errors import StoreError
from om_api.store.clearing import threads_of
from om_api.store.decoding import as_generation, as_observation, fields, scored, unsealed_threads
from om_api.store.keys import WINDOW_MS, histories
from om_api.store.steps import Batch, Steps
from om_api.values import Scope

if TYPE_CHECKING:
    from om_api.store.keys import Keys, ResourceKeys

_TRIES = 20
_READS: dict[str, tuple[Any, ...]] = {
    "string": ("GET",),
    "hash": ("HGETALL",),
    "zset": ("ZRANGE", 0, -1, "WITHSCORES"),
    "list": ("LRANGE", 0, -1),
    "set": ("SMEMBERS",),
    "lifetime": ("PTTL",),
}
Members = list[tuple[bytes, float]]


class Source(NamedTuple):
    """Whose messages: an observation's, of which thread ("" where nothing says it), activated at which Unix ms (0: same)."""

    observation: str
    thread: str
    activated_at: int


class Picture:
    """What was read at the server's time `now` (Unix ms), by key."""

    def __init__(self, of: ResourceKeys, resource: str, now: int, replies: dict[tuple[str, str], Any]) -> None:
        self.of, self.resource, self.now = of, resource, now
        self._replies = replies

    def text(self, key: str) -> str | None:
        """What a string holds."""
        reply = self._replies.get((key, "string"))
        return reply.decode() if reply else None

    def hash(self, key: str) -> dict[bytes, bytes]:
        """What a hash holds."""
        return fields(self._replies.get((key, "hash")) or {})

    def members(self, key: str) -> Members:
        """What a sorted set holds, with scores."""
        return scored(self._replies.get((key, "zset")) or [])

    def entries(self, key: str) -> list[bytes]:
        """What a list holds, or a set, in a lasting order."""
        listed: list[bytes] = self._replies.get((key, "list")) or sorted(self._replies.get((key, "set")) or ())
        return listed

    def expires_at(self, key: str) -> int:
        """When a key expires, in Unix ms; a lifetime that is not known has ended."""
        return self.now + max(0, int(self._replies.get((key, "lifetime")) or 0))

    @property
    def windows(self) -> tuple[int, int]:
        """The ten minutes whose ids a push looks at."""
        return self.now // WINDOW_MS - 1, self.now // WINDOW_MS

    @property
    def threads(self) -> list[str]:
        """Every thread that anything here names, and those whose messages were looked for."""
        stem = self.of.messages("")
        looked = {key.removeprefix(stem) for key, _ in self._replies if key.startswith(stem)}
        met = {name.decode() for name, _ in self.members(self.of.threads)}
        sealed = {self.hash(self.of.chunk(chunk)).get(b"thread", b"").decode() for chunk in self._chunks()}
        return sorted((looked | met | sealed | unsealed_threads(self.hash(self.of.tokens)).keys()) - {""})

    @property
    def scopes(self) -> list[Scope]:
        """Every scope that may have a memory here; while none is in force, nothing has."""
        if self.text(self.of.scope) != "thread":
            return [Scope(self.resource)]
        return [Scope(self.resource, thread) for thread in self.threads]

    def _chunks(self) -> list[str]:
        stems = tuple(key for key, kind in self._replies if kind == "zset" and key.startswith(f"{self.of.base}:chunks"))
        return [chunk.decode() for key in stems for chunk, _ in self.members(key)]

    def histories(self, scope: Scope) -> list[int]:
        """The generations of a scope that may have replaced something, kept or not."""
        return list(histories(int(self.hash(self.of.record(scope)).get(b"generation", 0))))

    def sources(self) -> list[Source]:
        """Where the messages behind observations are, as far as anything here names them."""
        found: dict[str, Source] = {}
        for scope in self.scopes:
            sets = [self.of.observations(scope), *(self.of.reflected(scope, n) for n in self.histories(scope))]
            generations = [as_generation(member) for member, _ in self.members(self.of.reflections(scope))]
            for name in (name for one in generations for name in (*one.observation_ids, *one.dropped_ids)):
                found[name] = Source(name, "", 0)
            for observation in (as_observation(member) for key in sets for member, _ in self.members(key)):
                found[observation.id] = Source(observation.id, observation.thread_id, 0)
        for thread in self.threads:
            for member, at in self.members(self.of.sources(thread)):
                found[member.decode()] = Source(member.decode(), thread, int(at))
        return sorted(found.values())

    def implied(self) -> set[tuple[str, str]]:
        """Everything that must have been read for this to be whole: keys, and how each is read."""
        of = self.of
        wanted = {(of.scope, "string"), (of.tokens, "hash"), (of.threads, "zset"), (of.rejected, "list")}
        for thread in self.threads:
            wanted |= {(of.messages(thread), "zset"), (of.thread(thread), "hash"), (of.sources(thread), "zset")}
            wanted |= {(of.seen(thread, window), "set") for window in self.windows}
        for scope in self.scopes:
            lists = {of.chunks(scope), of.observations(scope), of.reflections(scope)}
            wanted |= {(of.record(scope), "hash"), *((key, "zset") for key in lists)}
            past = [of.reflected(scope, n) for n in self.histories(scope)]
            wanted |= {(key, kind) for key in past for kind in ("zset", "lifetime")}
        for chunk in self._chunks():
            wanted |= {(of.chunk(chunk), "hash"), (of.sealed(chunk), "zset")}
        return wanted


def take(keys: Keys, resource: str) -> Steps[Picture]:
    """Read a resource in one MULTI, done again only if what was read names a key that was not; raises StoreError."""
    of = keys.of(resource)
    threads = yield from threads_of(keys, resource)
    known = {(of.messages(thread), "zset") for thread in threads} | Picture(of, resource, 0, {}).implied()
    for _ in range(_TRIES):
        wanted = sorted(known)
        commands = [(_READS[kind][0], key, *_READS[kind][1:]) for key, kind in wanted]
        (seconds, micros), *replies = yield Batch([("TIME",), *commands])
        now = int(seconds) * 1000 + int(micros) // 1000
        found = Picture(of, resource, now, dict(zip(wanted, replies, strict=True)))
        implied = found.implied()
        if implied <= known:
            return found
        known |= implied
    raise StoreError(f"{resource} changes faster than it can be read: pause it, or repeat.", stored=False)
