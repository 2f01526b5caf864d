"""The names of everything we keep in Redis, and nowhere else. `P` of the design is the prefix."""

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from om_api.domain.values import ID_PATTERN, Scope
from om_api.settings import Settings
from om_api.store.driver.archived_keys import INDEX
from om_api.store.driver.partitions import CLUSTER, Layout, PartedIndex, beside

_ID = ID_PATTERN.pattern
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
_LEGIBLE = 60
HISTORIES = 10_000
WORKING_FIELDS = ("version", "value", "shown", "at", "by")


def _named(kind: str) -> Callable[[Any, str], str]:
    def key(self: "Keys | ResourceKeys", name: str) -> str:
        return f"{self.base}:{kind}:{name}"

    return key


def _of_scope(kind: str) -> Callable[[Any, Scope], str]:
    def key(self: "ResourceKeys", scope: Scope) -> str:
        return f"{self.base}:{kind}{_tail(scope)}"

    return key


def _of_webhook(kind: str) -> Callable[[Any, str], str]:
    def key(self: "Keys", name: str) -> str:
        return f"{self.prefix}:webhook:{name}:{kind}:{{{self.due_webhooks}}}"

    return key


def _of_namespace(kind: str) -> Callable[[Any, str], str]:
    def key(self: "Keys", name: str) -> str:
        return f"{self.prefix}:store:{{{name}}}:{kind}"

    return key


class Keys:
    """Key names under one prefix. The braces are part of a key: all keys of a resource share a Cluster slot."""

    tick = _named("lock:tick")  # its guard: who sets it runs, other beats' runs of the same time slot end at once
    ticked = _named("lock:ticked")  # when a tick ran last, and how often it should
    worker = _named("lock:worker")  # that a worker process lives; gone a lease after it does not
    rollout = _named("lock:rollout")  # how far settings, by their fingerprint, have been made known to all memories
    paced = _named("lock:paced")  # when an API key, by its id, asked lately
    stream_token = _named("lock:stream-token")  # whose events a token shows, by the token's hash
    session = _named("lock:session")  # who signed in to the pages, by the hash of what the browser shows
    trying = _named("lock:trying")  # when a model's test call was asked for that nobody has answered; see safe_name
    tried = _named("lock:tried")  # what came of a model's last one
    told = _named("lock:told")  # that something was told, so that no other process tells it again
    waiting = _of_webhook(
        "waiting"
    )  # deliveries of a webhook, by when they are to be tried; all of its keys in one slot
    arrived = _of_webhook("arrived")  # the same, by the time of their event
    deliveries = _of_webhook("deliveries")  # what each of them is
    dead = _of_webhook("dead")  # what was given up, by when; expires
    figures = _of_webhook("figures")  # how many were delivered, failed, given up, dropped
    items = _of_namespace("items")  # what is kept in a namespace, as `namespaces.name_of` writes it, by key
    expiring = _of_namespace("expiring")  # until when those of its items live that do not stay
    namespaces = _of_namespace("namespaces")  # those that begin with a label, itself as `name_of` writes it

    def __init__(self, prefix: str = "cortex:om", partitions: int | None = None, usual: int = 1) -> None:
        """Of a store; `partitions` are those that it must have, `usual` those of one where nothing was written yet."""
        self.prefix = self.base = prefix
        self.partitions = f"{prefix}:partitions"
        self.layout = Layout(self.partitions, partitions, usual)
        self.due_observe = PartedIndex(f"{prefix}:due:observe", self.layout)
        self.due_reflect = PartedIndex(f"{prefix}:due:reflect", self.layout)
        self.due_webhooks = PartedIndex(f"{prefix}:due:webhooks", Layout(""))  # of one part
        self.webhooks = f"{prefix}:webhooks:{{{self.due_webhooks}}}"
        self.webhooks_cursor = f"{prefix}:webhooks:cursor:{{{self.due_webhooks}}}"
        self.adopt = PartedIndex(f"{prefix}:adopt", self.layout)
        self.resources = PartedIndex(f"{prefix}:resources", self.layout)
        self.sweep_cursor, self.reviews = f"{prefix}:lock:sweep-cursor", f"{prefix}:reviews"
        self.archive = f"{prefix}:archive"  # that there is one: from then on no worker makes another
        # resources by when something of them may be archived; since when nothing can be, and why
        self.archivable, self.archive_fault = f"{prefix}:archivable", f"{prefix}:lock:archive"
        self.workers, self.lasting = f"{prefix}:workers", f"{prefix}:lock:lasting"
        self.api_keys = f"{prefix}:keys"
        self.api_keys_used = f"{self.api_keys}:used:{{{self.api_keys}}}"  # in the keys' slot
        self.settings = f"{prefix}:settings"
        self.settings_by = f"{self.settings}:by:{{{self.settings}}}"  # in the settings' slot
        self.probe, self.trials = f"{prefix}:lock:doctor", f"{prefix}:lock:trials"
        self.rates = f"{prefix}:lock:rates"
        self.events, self.audit = f"{prefix}:events", f"{prefix}:audit"
        self.namespace_roots = f"{prefix}:store:roots"
        self.counted = PartedIndex(f"{prefix}:counted", self.layout)
        self.measured = PartedIndex(f"{prefix}:measured", self.layout)
        self.layout.moved = (self.due_observe, self.due_reflect, self.resources)
        escaped = re.escape(prefix)
        self._messages = re.compile(rf"{escaped}:\{{({_ID})\}}:messages:({_ID})")
        self._older = re.compile(rf"{escaped}:messages:({_ID})")

    def breaker(self, name: str, resource: str | None = None) -> str:
        """What is known of a model's failures and refusals, or of its failures for one resource.

        `name` as `safe_name` writes it; all of one model are in one slot.
        """
        key = f"{self.prefix}:lock:breaker:{{{name}}}"
        return key if resource is None else f"{key}:{resource}"

    def holders(self, name: str, resource: str | None = None) -> str:
        """Which calls of a model are in flight, of all resources or of one; in one slot with its breaker."""
        key = f"{self.prefix}:lock:holders:{{{name}}}"
        return key if resource is None else f"{key}:{resource}"

    def spent(self, day: str) -> str:
        """What models used on a UTC day (2026-11-21), all resources together."""
        return f"{self.prefix}:spent:{day}"

    def spent_by(self, day: str, resource: str) -> str:
        """The same of one resource. No braces: a bill is no part of a memory, and outlives it."""
        return f"{self.spent(day)}:{resource}"

    def spenders(self, day: str) -> str:
        """The resources whose models cost most on a UTC day, by millionths of a dollar."""
        return f"{self.prefix}:spenders:{day}"

    def series(self, step: int) -> str:
        """Samples of how much there is, one in each `step` seconds, of all resources together."""
        return f"{self.prefix}:series:{step}"

    def series_of(self, step: int, resource: str) -> str:
        """The same of one resource. No braces: it is no part of a memory."""
        return f"{self.series(step)}:{resource}"

    def counted_by(self, resource: str) -> str:
        """What happened to one resource, counted; `counted` is of all together. No braces: it is no part of a memory.

        Not `counted:<r>`: of a resource `64:0` that is a part of `counted`.
        """
        return f"{self.prefix}:counted-by:{resource}"

    def of(self, resource: str) -> "ResourceKeys":
        """The keys of one resource."""
        return ResourceKeys(f"{self.prefix}:{{{resource}}}")

    def parse_messages(self, key: str) -> "MessagesKey | None":
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
    """Key names of one resource; `:<t>` is behind what thread scope keeps apart."""

    messages = _named("messages")  # of a thread, tier 1: what is raw and not yet sealed
    known = _named("known")  # the ids of a thread's messages, while anything of them is kept
    thread = _named("thread")  # its current task, suggested response, title and metadata
    sources = _named("sources")  # which observations of a thread have a source; expires with the last of them
    chunk = _named("chunk")  # what a chunk is and, once ready, says
    sealed = _named("sealed")  # the messages a chunk covers
    source = _named("source")  # the messages behind an activated observation
    segment = _named("segment")  # the words of a chunk's messages, for recall; lives and dies with these
    pace_of = _named("pace")  # the same as `pace` of one API key, by its id
    lock = _named("lock")  # a short lease on something that costs money to do twice
    record = _of_scope("record")  # a scope's bookkeeping
    chunks = _of_scope("chunks")  # sealed and not yet activated, by seq of sealing
    observations = _of_scope("observations")  # tier 2, by seq drawn at activation
    draft = _of_scope("draft")  # a reflection that covers nothing yet; losing it costs a model call, so it may expire
    reflections = _of_scope("reflections")  # tier 3, by generation number

    def __init__(self, base: str) -> None:
        self.base = base
        self.scope = f"{base}:scope"
        self.tokens = f"{base}:tokens"
        self.threads = f"{base}:threads"
        self.aliases = f"{base}:aliases"  # names of conversations, with the thread that each of them stands for
        self.rejected = f"{base}:rejected"
        self.redacted = f"{base}:redacted"  # what placeholders stand for, encrypted
        self.working = f"{base}:working"  # working memories, the resource's and its threads'
        self.archived = f"{base}:{INDEX}"  # what stands in the archive, by the tail of its key: in which revision
        self.hold = f"{base}:lock:archive"  # who keeps the resource from being archived for now, and who did so last
        self.pace = f"{base}:pace"  # how far pushes are ahead of what they are limited to

    def staged(self, transfer: str, name: str) -> str:
        """Where an import writes what is to be the key `name` of this resource; nobody reads it there, and it expires."""
        return f"{self.base}:import:{transfer}:{tail_of(self, name)}"

    def reflected(self, scope: Scope, generation: int) -> str:
        """The observations that a generation replaced."""
        return f"{self.base}:reflected:{generation}{_tail(scope)}"


def working_fields(*places: str) -> tuple[str, ...]:
    """The fields of the hash that hold working memories: of threads, and "" for the resource's own."""
    return tuple(f"{name}:{place}" for place in places for name in WORKING_FIELDS)


def tail_of(of: ResourceKeys, key: str) -> str:
    """A key without what all keys of its resource begin with: what it is called in the archive."""
    return key.removeprefix(f"{of.base}:")


def keys_of(settings: Settings, *, cluster: bool = False) -> Keys:
    """The keys of the store that settings name; a new one on a `cluster` is parted."""
    parted = cluster or "+cluster://" in settings.redis_url
    return Keys(settings.prefix, settings.memory.partitions, CLUSTER if parted else 1)


def queued(part: str) -> str:
    """Which scopes of a part of a due index wait as tasks, each until its lease ends; in that part's slot by the braces."""
    return beside(part, "queued")


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
