"""Everything one resource holds, read at one instant, and what the name of any key of ours says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.store.decoding import fields, scored
from om_api.store.steps import Batch, Steps
from om_api.values import ID_PATTERN, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from om_api.store.keys import Keys, ResourceKeys

_ID = ID_PATTERN.pattern
_TRIES = 20
Members = list[tuple[bytes, float]]


class Kind(NamedTuple):
    """What every key of one kind is: its name after the resource, its Redis type (or `any`), whether it must have a TTL."""

    name: str
    pattern: re.Pattern[str]
    type: str
    expires: bool = False


def _kind(name: str, pattern: str, type_: str, *, expires: bool = False) -> Kind:
    return Kind(name, re.compile(pattern.replace("ID", _ID)), type_, expires)


_TAIL = r"(?::(?P<thread>ID))?"
_OF_RESOURCE = (
    _kind("scope", "scope", "string"),
    _kind("tokens", "tokens", "hash"),
    _kind("threads", "threads", "zset"),
    _kind("rejected", "rejected", "list"),
    _kind("messages", "messages:(?P<thread>ID)", "zset"),
    _kind("seen", r"seen:(?P<thread>ID):\d+", "set", expires=True),
    _kind("thread", "thread:(?P<thread>ID)", "hash"),
    _kind("sources", "sources:(?P<thread>ID)", "zset", expires=True),
    _kind("chunk", "chunk:(?P<id>ID)", "hash"),
    _kind("sealed", "sealed:(?P<id>ID)", "zset"),
    _kind("source", "source:(?P<id>ID)", "zset", expires=True),
    _kind("lock", "lock:.+", "string", expires=True),
    _kind("import", "import:.+", "any", expires=True),
    _kind("record", "record" + _TAIL, "hash"),
    _kind("chunks", "chunks" + _TAIL, "zset"),
    _kind("observations", "observations" + _TAIL, "zset"),
    _kind("draft", "draft" + _TAIL, "string", expires=True),
    _kind("reflections", "reflections" + _TAIL, "zset"),
    _kind("reflected", r"reflected:(?P<id>\d+)" + _TAIL, "zset", expires=True),
)
_COMMON = (
    _kind("due", "due:(?:observe|reflect)", "zset"),
    _kind("queued", r"due:(?P<work>observe|reflect):queued:\{.+:due:(?P=work)\}", "zset", expires=True),
    _kind("adopt", "adopt", "zset"),
    _kind("resources", "resources", "zset"),
    _kind("workers", "workers", "zset", expires=True),
    _kind("spent", r"spent:\d{4}-\d\d-\d\d(?::ID)?", "hash", expires=True),
    _kind("events", "events", "stream", expires=True),
    _kind("counted", "counted(?::ID)?", "hash", expires=True),
    _kind("measured", "measured", "zset", expires=True),
    _kind("keys", "keys", "hash"),
    _kind("older", "messages:ID", "zset"),
    _kind("breaker", "lock:breaker:.+", "hash", expires=True),
    _kind("holders", "lock:holders:.+", "zset", expires=True),
    _kind("window", r"lock:rates:[^{].*", "list", expires=True),
    _kind("guard", "lock:.+", "string", expires=True),  # and the rest of lock:rates, counters of tokens
)
_RESOURCE = re.compile(r"\{(" + _ID + r")\}:(.*)", re.DOTALL)
_READ = {"hash": ("HGETALL",), "zset": ("ZRANGE", 0, -1, "WITHSCORES"), "string": ("GET",)}
_UNREAD = frozenset(("rejected", "seen", "thread", "draft", "lock", "import"))


class Named(NamedTuple):
    """What a key's name says."""

    kind: Kind
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


class Holding(NamedTuple):
    """One resource at one instant. `sources` maps a thread to its index and the index's TTL in ms.

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
    reflected: dict[tuple[int, str | None], Members]
    threads: dict[str, int]
    settled: bool = False

    @property
    def messages(self) -> int:
        """How many messages are there: raw, sealed, or behind observations."""
        return sum(len(members) for held in (self.raw, self.sealed, self.source) for members in held.values())


def read(keys: Keys, resource: str, names: Iterable[str], *, without: Iterable[str] = ()) -> Steps[Holding]:
    """Read a resource in one MULTI: the keys that `names` lists, and those that these name. `without` are left out."""
    known, barred = set(names), set(without)
    for _ in range(_TRIES):
        wanted = sorted(key for key in known - barred if _is_read(keys, key, resource))
        indexes = [key for key in wanted if key.startswith(keys.of(resource).sources(""))]
        commands = [_command(keys, key) for key in wanted] + [("PTTL", key) for key in indexes]
        replies = yield Batch([("TIME",), *commands])
        found = _held(keys, resource, wanted, replies, dict(zip(indexes, replies[len(wanted) + 1 :], strict=True)))
        implied = _implied(found)
        if implied <= known:
            return found._replace(settled=True)
        known |= implied
    return found


def _is_read(keys: Keys, key: str, resource: str) -> bool:
    what = named(keys, key)
    return what is not None and what.resource == resource and what.kind.name not in _UNREAD


def _command(keys: Keys, key: str) -> tuple[Any, ...]:
    what = named(keys, key)
    verb, *options = _READ[what.kind.type if what else "zset"]
    return (verb, key, *options)


def _held(keys: Keys, resource: str, names: list[str], replies: list[Any], ttls: dict[str, int]) -> Holding:
    of = keys.of(resource)
    now = int(replies[0][0]) * 1000 + int(replies[0][1]) // 1000
    held = Holding(of, resource, now, None, {}, {}, {}, {}, {}, {}, {}, {}, {})
    for key, reply in zip(names, replies[1:], strict=False):
        what = named(keys, key)
        if what and reply:
            held = _with(held, what, reply, ttls.get(key, 0))
    return held._replace(parts=_parts(resource, names, dict(zip(names, replies[1:], strict=False)), keys))


def _with(held: Holding, what: Named, reply: Any, ttl: int) -> Holding:
    if what.kind.name == "scope":
        return held._replace(scope=reply.decode())
    if what.kind.name == "tokens":
        counts = {field.decode(): value.decode("utf-8", "replace") for field, value in fields(reply).items()}
        return held._replace(tokens=counts)
    if what.kind.name == "messages":
        held.raw[str(what.thread)] = scored(reply)
    elif what.kind.name == "chunk":
        held.chunks[what.id] = fields(reply)
    elif what.kind.name == "sources":
        held.sources[str(what.thread)] = ({name.decode(): at for name, at in scored(reply)}, ttl)
    elif what.kind.name == "threads":
        held.threads.update((name.decode(), int(at)) for name, at in scored(reply))
    elif what.kind.name == "reflected":
        held.reflected[int(what.id), what.thread] = scored(reply)
    elif what.kind.name == "sealed":
        held.sealed[what.id] = scored(reply)
    elif what.kind.name == "source":
        held.source[what.id] = scored(reply)
    return held


def _parts(resource: str, names: list[str], replies: dict[str, Any], keys: Keys) -> dict[str | None, Part]:
    of, parts = keys.of(resource), dict[str | None, Part]()
    for key in names:
        what = named(keys, key)
        if what and what.kind.name in {"record", "chunks", "observations", "reflections"} and what.thread not in parts:
            scope = Scope(resource, what.thread)
            lists = [of.chunks(scope), of.observations(scope), of.reflections(scope)]
            record = fields(replies.get(of.record(scope)) or {})
            part = Part(scope, record, *(scored(replies.get(name) or []) for name in lists))
            if any(part[1:]):
                parts[what.thread] = part
    return parts


def _implied(held: Holding) -> set[str]:
    """The keys that what was read names: with less than these read, what is missing may only be unread."""
    of, threads = held.of, _threads(held)
    names = {of.scope, of.tokens}
    for thread in threads:
        names |= {of.messages(thread), of.sources(thread)}
    for covered in {None, *held.parts} | (threads if held.scope == "thread" else set()):
        names |= _implied_by_scope(held, Scope(held.resource, covered))
    for index, _ in held.sources.values():
        names |= {of.source(name) for name in index}
    return names


def _threads(held: Holding) -> set[str]:
    unsealed = {field[1:] for field in held.tokens if field.startswith("#")}
    sealed = {value[b"thread"].decode() for value in held.chunks.values() if b"thread" in value}
    return unsealed | sealed | held.raw.keys() | held.sources.keys()


def _implied_by_scope(held: Holding, scope: Scope) -> set[str]:
    of, part = held.of, held.parts.get(scope.thread)
    names = {of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)}
    for chunk, _ in part.chunks if part else ():
        names |= {of.chunk(chunk.decode()), of.sealed(chunk.decode())}
    return names | {of.reflected(scope, int(n)) for _, n in (part.reflections if part else ())}
