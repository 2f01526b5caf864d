"""The names of everything we keep in Redis, and nowhere else. `P` of the design is the prefix."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from om_api.domain.values import ID_PATTERN, Scope

_ID = ID_PATTERN.pattern
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
_LEGIBLE = 60
HISTORIES = 10_000
WINDOW_MS = 600_000  # ids are remembered by the ten minutes of server time in which they were accepted


class Keys:
    """Key names under one prefix. The braces are part of a key: all keys of a resource share a Cluster slot."""

    def __init__(self, prefix: str = "cortex:om") -> None:
        self.prefix = prefix
        self.due_observe = f"{prefix}:due:observe"
        self.due_reflect = f"{prefix}:due:reflect"
        self.adopt = f"{prefix}:adopt"
        self.resources = f"{prefix}:resources"
        self.sweep_cursor = f"{prefix}:lock:sweep-cursor"
        self.workers = f"{prefix}:workers"
        self.api_keys = f"{prefix}:keys"
        self.probe = f"{prefix}:lock:doctor"
        self.rates = f"{prefix}:lock:rates"
        self.events = f"{prefix}:events"
        self.counted = f"{prefix}:counted"
        self.measured = f"{prefix}:measured"
        self.any_older_messages = f"{prefix}:messages:*"
        escaped = re.escape(prefix)
        self._messages = re.compile(rf"{escaped}:\{{({_ID})\}}:messages:({_ID})")
        self._older = re.compile(rf"{escaped}:messages:({_ID})")

    def tick(self, name: str) -> str:
        """The guard of a tick: whoever sets it runs, other beats' runs of the same time slot end at once."""
        return f"{self.prefix}:lock:tick:{name}"

    def ticked(self, name: str) -> str:
        """When a tick ran last, and how often it should."""
        return f"{self.prefix}:lock:ticked:{name}"

    def worker(self, name: str) -> str:
        """That a worker process lives; gone a lease after it does not."""
        return f"{self.prefix}:lock:worker:{name}"

    def breaker(self, name: str) -> str:
        """What is known of a model's failures and refusals; `name` as `safe_name` writes it."""
        return f"{self.prefix}:lock:breaker:{{{name}}}"

    def holders(self, name: str) -> str:
        """Which calls of a model are in flight; `name` as `safe_name` writes it. In one slot with its breaker."""
        return f"{self.prefix}:lock:holders:{{{name}}}"

    def spent(self, day: str) -> str:
        """What models used on a UTC day (2026-11-21), all resources together."""
        return f"{self.prefix}:spent:{day}"

    def spent_by(self, day: str, resource: str) -> str:
        """The same of one resource. No braces: a bill is no part of a memory, and outlives it."""
        return f"{self.spent(day)}:{resource}"

    def counted_by(self, resource: str) -> str:
        """What happened to one resource, counted; `counted` is of all together. No braces: it is no part of a memory."""
        return f"{self.counted}:{resource}"

    def told(self, what: str) -> str:
        """That something was told, so that no other process tells it again."""
        return f"{self.prefix}:lock:told:{what}"

    def of(self, resource: str) -> ResourceKeys:
        """The keys of one resource."""
        return ResourceKeys(f"{self.prefix}:{{{resource}}}")

    def parse_messages(self, key: str) -> MessagesKey | None:
        """Which resource and thread a messages key names; the older form names no resource. None for any other key."""
        if found := self._messages.fullmatch(key):
            return MessagesKey(found[1], found[2])
        if found := self._older.fullmatch(key):
            return MessagesKey(None, found[1])
        return None


class MessagesKey(NamedTuple):
    """What the name of a messages key says."""

    resource: str | None
    thread: str


class ResourceKeys:
    """Key names of one resource; `tail` is `:<t>` for what thread scope keeps apart."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.scope = f"{base}:scope"
        self.tokens = f"{base}:tokens"
        self.threads = f"{base}:threads"
        self.rejected = f"{base}:rejected"

    def messages(self, thread: str) -> str:
        """Tier 1: what is raw and not yet sealed."""
        return f"{self.base}:messages:{thread}"

    def seen(self, thread: str, window: int) -> str:
        """The ids accepted in one window."""
        return f"{self.base}:seen:{thread}:{window}"

    def thread(self, thread: str) -> str:
        """A thread's current task, suggested response, title and metadata."""
        return f"{self.base}:thread:{thread}"

    def sources(self, thread: str) -> str:
        """Which observations of a thread have a source; expires with the last of them."""
        return f"{self.base}:sources:{thread}"

    def chunk(self, chunk: str) -> str:
        """What a chunk is and, once ready, says."""
        return f"{self.base}:chunk:{chunk}"

    def sealed(self, chunk: str) -> str:
        """The messages a chunk covers."""
        return f"{self.base}:sealed:{chunk}"

    def source(self, observation: str) -> str:
        """The messages behind an activated observation."""
        return f"{self.base}:source:{observation}"

    def lock(self, what: str) -> str:
        """A short lease on something that costs money to do twice."""
        return f"{self.base}:lock:{what}"

    def staged(self, transfer: str, name: str) -> str:
        """Where an import writes what is to be the key `name` of this resource; nobody reads it there, and it expires."""
        return f"{self.base}:import:{transfer}:{name.removeprefix(self.base + ':')}"

    def record(self, scope: Scope) -> str:
        """A scope's bookkeeping."""
        return f"{self.base}:record{_tail(scope)}"

    def chunks(self, scope: Scope) -> str:
        """Sealed and not yet activated, by seq of sealing."""
        return f"{self.base}:chunks{_tail(scope)}"

    def observations(self, scope: Scope) -> str:
        """Tier 2, by seq drawn at activation."""
        return f"{self.base}:observations{_tail(scope)}"

    def draft(self, scope: Scope) -> str:
        """A reflection thought ahead of need; losing it costs a model call, so it may expire."""
        return f"{self.base}:draft{_tail(scope)}"

    def reflections(self, scope: Scope) -> str:
        """Tier 3, by generation number."""
        return f"{self.base}:reflections{_tail(scope)}"

    def reflected(self, scope: Scope, generation: int) -> str:
        """The observations that a generation replaced."""
        return f"{self.base}:reflected:{generation}{_tail(scope)}"


def queued(due: str) -> str:
    """Which scopes of a due index wait as tasks, each until its lease ends; the braces make it stand in the index's slot."""
    return f"{due}:queued:{{{due}}}"


def histories(reached: int) -> range:
    """The generations up to `reached` whose replaced observations may still be kept: 10,000, whatever a record says.

    More than that are not made within the time after which what they replaced expires.
    """
    return range(max(1, reached - HISTORIES + 1), reached + 1)


def safe_name(model: str) -> str:
    """A model's name as a part of keys: legible, whatever it holds, and no two of them equal."""
    digest = hashlib.blake2b(model.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{_NOT_IN_NAMES.sub('_', model)[:_LEGIBLE]}-{digest}"


def _tail(scope: Scope) -> str:
    return "" if scope.thread is None else f":{scope.thread}"
