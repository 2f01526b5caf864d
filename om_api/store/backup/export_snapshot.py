"""A whole resource at one instant: everything that lives, and the names of the messages behind its observations."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from om_api.domain.errors import StoreError
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair
from om_api.store.driver.steps import Steps
from om_api.store.memory.clear import threads_of
from om_api.store.memory.decoding import as_generation, as_observation, unsealed_threads
from om_api.store.memory.instant import NOTHING, Instant, Wanted, settled
from om_api.store.memory.keys import WINDOW_MS, Keys, ResourceKeys, histories


class Behind(NamedTuple):
    """Whose messages: an observation's, of which thread ("" where nothing says it), activated at which Unix ms (0: same)."""

    observation: str
    thread: str
    activated_at: int


class Picture:
    """A resource at one instant."""

    def __init__(self, of: ResourceKeys, resource: str, found: Instant) -> None:
        self.of, self.resource, self.now = of, resource, found.now
        self._found = found

    def text(self, key: str) -> str | None:
        """What a string holds."""
        found = self._found.strings.get(key)
        return found.decode() if found else None

    def hash(self, key: str) -> dict[bytes, bytes]:
        """What a hash holds."""
        return self._found.hashes.get(key, {})

    def members(self, key: str) -> list[Pair]:
        """What a sorted set holds, with scores."""
        return self._found.zsets.get(key, [])

    def entries(self, key: str) -> list[bytes]:
        """What a list holds, or a set, in a lasting order."""
        return self._found.lists.get(key, [])

    def expires_at(self, key: str) -> int:
        """When a key expires, in Unix ms; a lifetime that is not known has ended."""
        return self.now + max(0, self._found.lifetimes.get(key, 0))

    @property
    def windows(self) -> tuple[int, int]:
        """The ten minutes whose ids a push looks at."""
        return self.now // WINDOW_MS - 1, self.now // WINDOW_MS

    @property
    def threads(self) -> list[str]:
        """Every thread that anything here names, and those whose messages were looked for."""
        stem = self.of.messages("")
        looked = {key.removeprefix(stem) for key in self._found.zsets if key.startswith(stem)}
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
        indexes = [key for key in self._found.zsets if key.startswith(f"{self.of.base}:chunks")]
        return [chunk.decode() for key in indexes for chunk, _ in self.members(key)]

    def histories(self, scope: Scope) -> list[int]:
        """The generations of a scope that may have replaced something, kept or not."""
        return list(histories(int(self.hash(self.of.record(scope)).get(b"generation", 0))))

    def sources(self) -> list[Behind]:
        """Where the messages behind observations are, as far as anything here names them."""
        found: dict[str, Behind] = {}
        for scope in self.scopes:
            sets = [self.of.observations(scope), *(self.of.reflected(scope, n) for n in self.histories(scope))]
            generations = [as_generation(member) for member, _ in self.members(self.of.reflections(scope))]
            for name in (name for one in generations for name in (*one.observation_ids, *one.dropped_ids)):
                found[name] = Behind(name, "", 0)
            for observation in (as_observation(member) for key in sets for member, _ in self.members(key)):
                found[observation.id] = Behind(observation.id, observation.thread_id, 0)
        for thread in self.threads:
            for member, at in self.members(self.of.sources(thread)):
                found[member.decode()] = Behind(member.decode(), thread, int(at))
        return sorted(found.values())

    def implied(self) -> Wanted:
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
    known = {(of.messages(thread), "zset") for thread in threads} | Picture(of, resource, NOTHING).implied()
    found, rests = yield from settled(known, partial(Picture, of, resource), Picture.implied)
    if not rests:
        raise StoreError(f"{resource} changes faster than it can be read: pause it, or repeat.", stored=False)
    return found
