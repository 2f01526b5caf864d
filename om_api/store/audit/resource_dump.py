"""Everything one resource holds, read at one instant, and what the name of any key of ours says."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from om_api.domain.values import ID_PATTERN, Scope
from om_api.store.driver.steps import Steps
from om_api.store.memory.instant import Instant, Wanted, lasts, settled
from om_api.store.memory.keys import Keys, ResourceKeys

_ID = ID_PATTERN.pattern
T = TypeVar("T")
Members = list[tuple[bytes, float]]


class KeyKind(NamedTuple):
    """What every key of one kind is: its name after the resource, its Redis type (or `any`), whether it must have a TTL.

    `expires` None: some of them do.
    """

    name: str
    pattern: re.Pattern[str]
    type: str
    expires: bool | None = False


def _kind(name: str, pattern: str, type_: str, *, expires: bool | None = False) -> KeyKind:
    return KeyKind(name, re.compile(pattern.replace("ID", _ID)), type_, expires)


_TAIL = r"(?::(?P<thread>ID))?"
_PART = r"(?::\d+:\d+)?"
_OF_RESOURCE = (
    _kind("scope", "scope", "string"),
    _kind("tokens", "tokens", "hash"),
    _kind("threads", "threads", "zset"),
    _kind("aliases", "aliases", "hash"),
    _kind("rejected", "rejected", "list"),
    _kind("working", "working", "hash"),
    _kind("redacted", "redacted", "hash"),
    _kind("messages", "messages:(?P<thread>ID)", "zset"),
    _kind("known", "known:(?P<thread>ID)", "hash"),
    _kind("seen", r"seen:(?P<thread>ID):\d+", "set", expires=True),  # of ids, by older versions; gone 20 minutes after
    _kind("thread", "thread:(?P<thread>ID)", "hash"),
    _kind("sources", "sources:(?P<thread>ID)", "zset", expires=True),
    _kind("chunk", "chunk:(?P<id>ID)", "hash"),
    _kind("sealed", "sealed:(?P<id>ID)", "zset"),
    _kind("source", "source:(?P<id>ID)", "zset", expires=True),
    _kind("segment", "segment:(?P<id>ID)", "string", expires=None),  # once its chunk was activated
    _kind("archived", "archived", "zset"),
    _kind("hold", "lock:archive", "hash", expires=True),
    _kind("lock", "lock:.+", "string", expires=True),
    _kind("pace", "pace(?::ID)?", "hash", expires=True),
    _kind("import", "import:.+", "any", expires=True),
    _kind("record", "record" + _TAIL, "hash"),
    _kind("chunks", "chunks" + _TAIL, "zset"),
    _kind("observations", "observations" + _TAIL, "zset"),
    _kind("draft", "draft" + _TAIL, "string", expires=True),
    _kind("reflections", "reflections" + _TAIL, "zset"),
    _kind("reflected", r"reflected:(?P<id>\d+)" + _TAIL, "zset", expires=None),  # but what was set aside in groups
)
_COMMON = (
    _kind("partitions", "partitions", "string"),
    _kind("due", f"due:(?:observe|reflect){_PART}|due:webhooks", "any", expires=None),  # one that was closed is text
    _kind(
        "queued",
        rf"due:(?P<work>observe|reflect|webhooks):(?:queued|turns|shares|slow):\{{.+:due:(?P=work){_PART}\}}",
        "zset",
        expires=True,
    ),
    _kind("adopt", f"adopt{_PART}", "zset"),
    _kind("resources", f"resources{_PART}", "any", expires=None),
    _kind("reviews", "reviews", "zset"),
    _kind("archivable", "archivable", "zset"),
    _kind("archive", "archive", "string"),
    _kind("workers", "workers", "zset", expires=True),
    _kind("spent", r"spent:\d{4}-\d\d-\d\d(?::ID)?", "hash", expires=True),
    _kind("spenders", r"spenders:\d{4}-\d\d-\d\d", "zset", expires=True),
    _kind("series", r"series:\d+(?::ID)?", "stream", expires=True),
    _kind("events", "events", "stream", expires=True),
    _kind("audit", "audit", "stream", expires=True),
    _kind("counted", f"counted(?:{_PART}|-by:ID|:ID)", "hash", expires=True),  # counted:ID is of an older version
    _kind("measured", f"measured{_PART}", "zset", expires=True),
    _kind("keys", r"keys(?::used:\{.+:keys\})?", "hash"),
    _kind("settings", r"settings(?::by:\{.+:settings\})?", "hash"),
    _kind("paced", "lock:paced:.+", "list", expires=True),
    _kind("trials", "lock:trials", "zset", expires=True),
    _kind("older", "messages:ID", "zset"),
    _kind("webhooks", r"webhooks:\{.+\}", "hash"),
    _kind("webhooks_cursor", r"webhooks:cursor:\{.+\}", "string"),
    _kind("webhook_queue", r"webhook:ID:(?:waiting|arrived):\{.+\}", "zset"),
    _kind("webhook_hash", r"webhook:ID:(?:deliveries|figures):\{.+\}", "hash"),
    _kind("webhook_dead", r"webhook:ID:dead:\{.+\}", "zset", expires=True),
    _kind("items", r"store:\{.+\}:items", "hash", expires=None),
    _kind("expiring", r"store:\{.+\}:expiring", "zset", expires=None),
    _kind("namespaces", r"store:(?:roots|\{.+\}:namespaces)", "zset"),
    _kind("breaker", "lock:breaker:.+", "hash", expires=True),
    _kind("holders", "lock:holders:.+", "zset", expires=True),
    _kind("lasting", "lock:lasting", "hash", expires=True),
    _kind("window", r"lock:rates:[^{].*", "list", expires=True),
    _kind("guard", "lock:.+", "string", expires=True),  # and the rest of lock:rates, counters of tokens
)
_RESOURCE = re.compile(r"\{(" + _ID + r")\}:(.*)", re.DOTALL)
_OF_PART = ("record", "chunks", "observations", "reflections")
_UNREAD = frozenset(("rejected", "seen", "draft", "hold", "lock", "pace", "import"))


class Named(NamedTuple):
    """What a key's name says."""

    kind: KeyKind
    resource: str | None = None
    id: str = ""
    thread: str | None = None


def named(keys: Keys, key: str) -> Named | None:
    """What a key under our prefix is; None when no name of ours explains it."""
    rest = key.removeprefix(keys.prefix + ":")
    braces = _RESOURCE.fullmatch(rest)
    kinds, rest = (_OF_RESOURCE, braces[2]) if braces else (_COMMON, rest)
    for kind in kinds:
        if found := kind.pattern.fullmatch(rest):
            parts = found.groupdict()
            return Named(kind, braces[1] if braces else None, parts.get("id") or "", parts.get("thread"))
    return None


class Part(NamedTuple):
    """One scope's share: its record, chunk ids with seqs, observations with seqs, generations with numbers."""

    scope: Scope
    record: Mapping[bytes, bytes]
    chunks: Members
    observations: Members
    reflections: Members


class ResourceDump(NamedTuple):
    """One resource at one instant. `sources` maps a thread to its index and the index's TTL in ms, `segments` a chunk likewise.

    `lasting` says of what generations replaced whether it lives longer than any retention. `states` are the threads that have
    a hash of their own state.
    `settled` is False when it names keys that were not read: it changed faster than its names could be learned.
    """

    of: ResourceKeys
    resource: str
    now: int
    scope: str | None
    tokens: dict[str, str]
    parts: dict[str | None, Part]
    raw: dict[str, Members]
    chunks: dict[str, Mapping[bytes, bytes]]
    sealed: dict[str, Members]
    source: dict[str, Members]
    sources: dict[str, tuple[dict[str, float], int]]
    segments: dict[str, tuple[bytes, int]]
    reflected: dict[tuple[int, str | None], Members]
    threads: dict[str, int]
    known: dict[str, Mapping[bytes, bytes]]
    aliases: dict[str, str]
    states: frozenset[str] = frozenset()
    lasting: Mapping[tuple[int, str | None], bool] = MappingProxyType({})
    working: Mapping[bytes, bytes] = MappingProxyType({})
    settled: bool = False

    @property
    def messages(self) -> int:
        """How many messages are there: raw, sealed, or behind observations."""
        return sum(len(members) for held in (self.raw, self.sealed, self.source) for members in held.values())

    def leaves_memory(self, thread: str) -> bool:
        """Whether a thread's messages are observed, by its memory mode."""
        return self.tokens.get(f"*memory:{thread}") not in {"off", "read_only"}


def read(keys: Keys, resource: str, names: Iterable[str], *, without: Iterable[str] = ()) -> Steps[ResourceDump]:
    """Read a resource in one MULTI: the keys that `names` lists, and those that these name. `without` are left out."""

    def wanted(names: Iterable[str]) -> Wanted:
        return _wanted(keys, resource, set(names).difference(without))

    held, rests = yield from settled(wanted(names), partial(_held, keys, resource), lambda held: wanted(_implied(held)))
    return held._replace(settled=rests)


def _wanted(keys: Keys, resource: str, names: Iterable[str]) -> Wanted:
    found: Wanted = set()
    for key in names:
        what = named(keys, key)
        if what and what.resource == resource and what.kind.name not in _UNREAD:
            found.add((key, what.kind.type))
            if what.kind.name in {"sources", "segment", "reflected"}:
                found.add((key, "lifetime"))
    return found


def _held(keys: Keys, resource: str, found: Instant) -> ResourceDump:
    of, zsets, hashes = keys.of(resource), _by_kind(keys, found.zsets), _by_kind(keys, found.hashes)
    strings = _by_kind(keys, found.strings)
    stored, tokens = found.strings.get(of.scope), found.hashes.get(of.tokens, {})
    parts = {what.thread for kind in _OF_PART for what, _ in (*zsets[kind], *hashes[kind])}
    return ResourceDump(
        of,
        resource,
        found.now,
        scope=stored.decode() if stored else None,
        tokens={field.decode(): value.decode("utf-8", "replace") for field, value in tokens.items()},
        parts={thread: _part(of, Scope(resource, thread), found) for thread in sorted(parts, key=str)},
        raw={str(what.thread): members for what, members in zsets["messages"]},
        chunks={what.id: value for what, value in hashes["chunk"]},
        sealed={what.id: members for what, members in zsets["sealed"]},
        source={what.id: members for what, members in zsets["source"]},
        sources={str(what.thread): _index(of, what, members, found) for what, members in zsets["sources"]},
        segments={
            what.id: (value, found.lifetimes.get(of.segment(what.id), 0)) for what, value in strings["segment"] if value
        },
        reflected={(int(what.id), what.thread): members for what, members in zsets["reflected"]},
        threads={name.decode(): int(at) for name, at in found.zsets.get(of.threads, ())},
        known={str(what.thread): value for what, value in hashes["known"]},
        states=frozenset(str(what.thread) for what, _ in hashes["thread"]),
        working=found.hashes.get(of.working, {}),
        lasting={at: lasts(found.lifetimes[key]) for key, at in _histories(keys, found) if key in found.lifetimes},
        aliases={name.decode(): thread.decode() for name, thread in found.hashes.get(of.aliases, {}).items()},
    )


def _by_kind(keys: Keys, held: Mapping[str, T]) -> Mapping[str, list[tuple[Named, T]]]:
    found = defaultdict[str, list[tuple[Named, T]]](list)
    for key, value in held.items():
        if value and (what := named(keys, key)):
            found[what.kind.name].append((what, value))
    return found


def _histories(keys: Keys, found: Instant) -> Iterable[tuple[str, tuple[int, str | None]]]:
    read = ((key, named(keys, key)) for key in found.zsets)
    return ((key, (int(what.id), what.thread)) for key, what in read if what and what.kind.name == "reflected")


def _part(of: ResourceKeys, scope: Scope, found: Instant) -> Part:
    lists = (of.chunks(scope), of.observations(scope), of.reflections(scope))
    return Part(scope, found.hashes.get(of.record(scope), {}), *(found.zsets.get(key, []) for key in lists))


def _index(of: ResourceKeys, what: Named, members: Members, found: Instant) -> tuple[dict[str, float], int]:
    left = found.lifetimes.get(of.sources(str(what.thread)), 0)
    return {name.decode(): at for name, at in members}, left


def _implied(held: ResourceDump) -> set[str]:
    """The keys that what was read names: with less than these read, what is missing may only be unread."""
    of, threads = held.of, _threads(held)
    names = {of.scope, of.tokens, of.threads, of.aliases, of.working}
    for thread in threads | held.aliases.keys():
        names |= {of.messages(thread), of.sources(thread), of.known(thread), of.thread(thread)}
    for covered in {None, *held.parts} | (threads if held.scope == "thread" else set()):
        scope = Scope(held.resource, covered)
        part = held.parts.get(covered) or Part(scope, {}, [], [], [])
        names |= {of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)}
        chunks = [chunk.decode() for chunk, _ in part.chunks]
        names |= {name for chunk in chunks for name in (of.chunk(chunk), of.sealed(chunk), of.segment(chunk))}
        names |= {of.reflected(scope, int(n)) for _, n in part.reflections}
    for index, _ in held.sources.values():
        names |= {key for name in index for key in (of.source(name), of.segment(name))}
    return names


def _threads(held: ResourceDump) -> set[str]:
    unsealed = {field[1:] for field in held.tokens if field.startswith("#")}
    sealed = {value[b"thread"].decode() for value in held.chunks.values() if b"thread" in value}
    return unsealed | sealed | held.raw.keys() | held.sources.keys()
