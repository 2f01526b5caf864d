"""Reading what tells whether a system is well: the server, its limits, who works, what waits. Changes no memory."""

from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from om_api.domain.errors import StoreError
from om_api.store.driver.partitions import of_all
from om_api.store.driver.replies import as_bool, as_bytes, as_int, as_names, command, write
from om_api.store.driver.slots import SLOTS
from om_api.store.driver.steps import ALONE, Batch, Node, Nodes, Steps, at, batch, by_name, each
from om_api.store.driver.tolerant_read import of_many
from om_api.store.fleet import presence, resource_tiers
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.memory import due
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.keyspace_scan import all_resources
from om_api.store.memory.quarantine import UNKNOWN

T = TypeVar("T")
QUEUES = ("ticks", "observe", "reflect", "maintenance")
TICKS = ("observer", "reflector", "webhooks", "sweep")
LOOKED_AT = 10_000  # resources in one look
_PROBE_MS = 1_000


class Waiting(NamedTuple):
    """A due index: how many scopes are due by now, for how long (ms) the first has been, and how many are in it, due or not."""

    what: str
    due: int
    longest: int
    scopes: int = 0


class Condition(NamedTuple):
    """What operations ask of one resource; `scope` is None while nothing was ever sealed; a `broken` one cannot be read."""

    resource: str
    scope: str | None
    rejected: int
    paused: bool
    broken: bool = False


class Standings(NamedTuple):
    """How many resources the workers know, and how some or all of them stand, and the one that stands for nobody's."""

    known: int
    conditions: list[Condition]


def probe(keys: Keys) -> Steps[StoreError | None]:
    """Write one small key, which is gone a second later; the refusal, when the server takes no writes from us."""
    try:
        yield from write(("SET", keys.probe, 1, "PX", _PROBE_MS))
    except StoreError as error:
        return error
    return None


class ServerInfo(NamedTuple):
    """What a server tells of itself; `info` and `fsync` are None where they may not be asked."""

    node: Node
    info: dict[str, str] | None
    fsync: str | None


def servers() -> Steps[list[ServerInfo]]:
    """What every server of the store's tells of itself, the primaries of a Cluster first."""
    found: list[ServerInfo] = []
    for node in sorted((yield from Nodes()), key=lambda each: (not each.primary, each.address)):
        said, fsync = (yield from info(node)), (yield from configured("appendfsync", node))
        found += [ServerInfo(node, said, fsync)]
    return found


def unserved() -> Steps[int]:
    """How many slots of a Cluster no node serves; 0 on a plain server, or when it may not be asked."""
    if (yield from Nodes()) == (ALONE,):
        return 0
    try:
        told = yield from command(_fields, "CLUSTER INFO")
    except StoreError:
        return 0
    return SLOTS - int(told["cluster_slots_ok"]) if "cluster_slots_ok" in told else 0


def info(node: Node = ALONE) -> Steps[dict[str, str] | None]:
    """What INFO says; None when it may not be asked. A managed server may leave fields out."""
    try:
        return (yield from at(node, command(_fields, "INFO")))
    except StoreError:
        return None


def _fields(reply: Any) -> dict[str, str]:
    if isinstance(reply, dict):  # redis-py has read it
        return {str(name): str(value) for name, value in reply.items()}
    lines = (reply.decode("utf-8", "replace") if isinstance(reply, bytes) else str(reply)).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def configured(name: str, node: Node = ALONE) -> Steps[str | None]:
    """What CONFIG GET says of one directive; None when it may not be asked."""
    try:
        return (yield from at(node, command(_directive, "CONFIG GET", name)))
    except StoreError:
        return None


def _directive(reply: Any) -> str | None:
    values = list(reply.values()) if isinstance(reply, dict) else reply[1:]
    found = values[0] if values else None
    return found.decode() if isinstance(found, bytes) else found and str(found)


def workers(keys: Keys, within_ms: int = presence.LIVES_MS) -> Steps[list[Worker]]:
    """The worker processes that live, by name: those that said so within the last `within_ms`."""
    since = (yield from due.server_ms()) + presence.LIVES_MS - within_ms
    names = yield from as_names("ZRANGE", keys.workers, since, "+inf", "BYSCORE")
    said = (_read(keys.worker(name), Worker) for name in names)
    found = yield from each(said, atomic=False)
    return sorted((worker for worker in found if worker), key=lambda worker: worker.name)


def ticks(keys: Keys) -> Batch[dict[str, Ticked | None]]:
    """When each tick ran last; None for one that has not for a day."""
    return by_name(TICKS, lambda name: tick(keys, name), atomic=False)


def tick(keys: Keys, name: str) -> Batch[Ticked | None]:
    """When one tick ran last."""
    return _read(keys.ticked(name), Ticked)


def _read(key: str, kind: type[T]) -> Batch[T | None]:
    return as_bytes("GET", key).then(lambda reply: _decoded(reply, kind))


def _decoded(reply: bytes | None, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(reply, type=kind) if reply else None
    except (msgspec.DecodeError, UnicodeDecodeError):  # of a later version, or of nobody's
        return None


def waiting(keys: Keys) -> Steps[list[Waiting]]:
    """How long the due indexes have waited."""
    now, found = (yield from due.server_ms()), list[Waiting]()
    for what, index in (("observe", keys.due_observe), ("reflect", keys.due_reflect)):
        parts = yield from of_all(index, partial(_waiting, now))
        count, oldest, scopes = zip(*parts, strict=True)
        found.append(Waiting(what, sum(count), max(oldest), sum(scopes)))
    return found


def _waiting(now: int, part: str) -> Batch[tuple[int, int, int]]:
    """Of one part: how many scopes are due, for how long the oldest has been, and how many there are."""
    return batch(as_int("ZCOUNT", part, "-inf", now), due.longest(part, now), as_int("ZCARD", part), atomic=False)


def queues() -> Batch[dict[str, int]]:
    """How many tasks wait in each queue of a broker that is a Redis."""
    return by_name(QUEUES, lambda name: as_int("LLEN", name), atomic=False)


def unacked() -> Batch[int]:
    """How many tasks were taken off the queues and not begun, in a broker that is a Redis."""
    return as_int("HLEN", "unacked")


def standings(keys: Keys, most: int = LOOKED_AT) -> Steps[Standings]:
    """What operations ask of resources that workers have met, and of the one that stands for nobody's.

    Where there are more than `most`, about so many are looked at, those that workers looked at last.
    """
    known, newest = yield from resource_tiers.newest(keys, most)
    if len(newest) < known <= most:  # one part has more of them than its share
        newest = yield from all_resources(keys)
    names = sorted({*newest, UNKNOWN})
    found = yield from of_many(lambda name: _condition(name, keys.of(name)), names)
    conditions = [found.get(name) or Condition(name, None, 0, paused=False, broken=True) for name in names]
    return Standings(known - (UNKNOWN in newest), conditions)


def _condition(name: str, of: ResourceKeys) -> Batch[Condition]:
    return batch(
        as_bytes("GET", of.scope).then(lambda stored: stored.decode() if stored else None),
        as_int("LLEN", of.rejected),
        as_bool("HEXISTS", of.tokens, "*paused"),
    ).then(lambda found: Condition(name, *found))
