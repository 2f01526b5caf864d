"""What so many agents take: flows, memory, servers, workers, dollars; and when what there is only one of is full."""

from collections.abc import Iterator
from math import ceil

import msgspec

from om_bench.cost.bills import rates_of
from om_bench.fleet.load import Ground, Load
from om_bench.fleet.simulation import Duration, Fleet, Played, arrivals, simulate
from om_bench.fleet.unit_costs import UnitCosts
from om_bench.fleet.weights import SEGMENT, TOKEN, memory_bytes

_DAY_S, _MONTH_DAYS = 86_400, 30
_GIB = 2**30
BUSY = 0.6  # of a core or a thread: what is planned for, so that a burst does not wait
_RAW = 0.6  # of the threshold, that stands raw on average: between the floor and the threshold
_LEFT = 2  # messages of a thread that nobody talks in any more
_CONTEXTS = 0.5  # of the messages are a user's or a tool's, before which a context is read
_NOTES = 0.1  # tokens of notes for a token of messages
_ARCHIVED = 0.41  # bytes of a character, compressed in segments of a hundred messages
_SWEPT = 2_000 / 60  # agents a second that the sweep looks at
_PLAYED, _LEAST_S, _MOST_S = 20_000, 30.0, 300.0
_PARTS_EACH = 4  # partitions of each server


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """What so many agents take. What is `a second` or `a minute` is of the busiest hour; bytes are without replicas."""

    agents: float
    pushes: float
    contexts: float
    calls: float
    calls_a_minute: float
    tokens_a_minute: float
    now_bytes: float
    past_bytes: float
    archive_bytes: float
    store_cores: float
    worker_cores: float
    client_cores: float
    workers: int
    workers_bytes: float
    made_good_s: float
    in_flight: float
    primaries: int
    primaries_archive: int
    partitions: int
    dollars: dict[str, float]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What there is one of: the share of it that is used, with how many agents it is full, and what one would do then."""

    what: str
    share: float
    full_at: float
    then: str


class Sizing:
    """Makes all figures of unit costs and of what is assumed."""

    def __init__(self, costs: UnitCosts, load: Load, ground: Ground) -> None:
        self._costs, self._load, self._ground = costs, load, ground

    def sizes(self, agents: float) -> Sizes:
        """What so many agents take."""
        costs, ground = self._costs, self._ground
        pushes = self._said(agents) / _DAY_S * self._load.peak
        calls = pushes * self._load.tokens * costs["calls_per_token"]
        asked = pushes * self._load.tokens * (costs["input_per_token"] + costs["output_per_token"])
        now, past = self._bytes(agents)
        workers, stores = self._workers(calls), self._store_cores(pushes, calls)
        primaries = self._primaries(stores, now + past), self._primaries(stores, now)
        return Sizes(
            agents=agents, pushes=pushes, contexts=pushes * _CONTEXTS, calls=calls, calls_a_minute=60 * calls,
            tokens_a_minute=60 * asked, now_bytes=now, past_bytes=past, archive_bytes=self._archived(agents),
            store_cores=stores, worker_cores=calls * costs.seconds("worker_ms"), workers=workers,
            client_cores=pushes * (costs.seconds("push_client_us") + _CONTEXTS * costs.seconds("context_client_us")),
            workers_bytes=workers * costs["worker_mb"] * 1e6, made_good_s=self._made_good(workers, calls),
            in_flight=calls * ground.model_s, primaries=primaries[0], primaries_archive=primaries[1],
            partitions=min(4_096, max(1, _PARTS_EACH * primaries[1])),
            dollars=self._dollars(agents, workers, *primaries),
        )  # fmt: skip

    def _said(self, agents: float) -> float:
        """Messages a day."""
        return agents * self._load.active * self._load.messages

    def _bytes(self, agents: float) -> tuple[float, float]:
        """Memory: of what every context reads, and of the sources behind it."""
        load = self._load
        each = load.active * load.messages * load.days
        notes = min(each * load.tokens * _NOTES, load.notes)
        raw = load.active * min(load.messages, _RAW * load.threshold / load.tokens) + (1 - load.active) * _LEFT
        length = load.tokens * TOKEN
        now = memory_bytes(agents=agents, raw=agents * raw, behind=0, note_tokens=agents * notes, length=length)
        return now, memory_bytes(agents=0, raw=0, behind=agents * each, note_tokens=0, length=length)

    def _archived(self, agents: float) -> float:
        return self._said(agents) * self._load.days * (self._load.tokens * TOKEN * _ARCHIVED + SEGMENT)

    def _store_cores(self, pushes: float, calls: float) -> float:
        costs = self._costs
        agents = pushes * (costs.seconds("push_store_us") + _CONTEXTS * costs.seconds("context_store_us"))
        return agents + calls * (costs.seconds("store_ms") + costs.seconds("limit_store_us"))

    def _workers(self, calls: float) -> int:
        """Processes, by their processors and by their threads; two at least, so that one may die."""
        by_cores = calls * self._costs.seconds("worker_ms") / BUSY
        by_threads = calls * self._ground.model_s / self._ground.threads / BUSY
        return max(2, ceil(max(by_cores, by_threads)))

    def _made_good(self, workers: int, calls: float) -> float:
        """Seconds until what came due in an hour without workers is done, beside what comes meanwhile."""
        most = min(workers * self._ground.threads / self._ground.model_s, workers / self._costs.seconds("worker_ms"))
        return 3_600 * calls / (most - calls)

    def _primaries(self, cores: float, size: float) -> int:
        """Servers of memories, by their cores, of which each uses one, and by their memory, of which half is used."""
        return max(1, ceil(cores / BUSY), ceil(2 * size / _GIB / self._ground.server_gib))

    def _dollars(self, agents: float, workers: int, primaries: int, primaries_archive: int) -> dict[str, float]:
        """Of a month: models; servers, each with a replica; workers by the core; the archive."""
        ground, tokens = self._ground, self._said(agents) * self._load.tokens * _MONTH_DAYS
        sent, answered = tokens * self._costs["input_per_token"], tokens * self._costs["output_per_token"]
        server = 2 * ground.server_gib * ground.gib_dollars
        return {
            "models": rates_of(ground.observer).dollars(sent, 0, answered),
            "servers, everything in memory": primaries * server,
            "servers, sources in an archive": primaries_archive * server,
            "archive": self._archived(agents) / 1e9 * ground.archive_dollars,
            "workers": workers * ground.core_dollars,
        }

    def limits(self, agents: float) -> Iterator[Limit]:
        """What there is only one of, the first that is full first."""
        found = self._limits(self.sizes(agents))
        made = (Limit(what=what, share=share, full_at=agents / share, then=then) for what, share, then in found)
        return iter(sorted(made, key=lambda limit: limit.full_at))

    def _limits(self, size: Sizes) -> Iterator[tuple[str, float, str]]:
        costs, ground = self._costs, self._ground
        yield (
            "model: tokens a minute",
            size.tokens_a_minute / ground.tokens_a_minute,
            ("a higher tier; several providers; the extractive observer for most agents"),
        )
        yield (
            "model: calls a minute",
            size.calls_a_minute / ground.calls_a_minute,
            "the same; larger chunks (`buffer_tokens`)",
        )
        yield "sweep: a lap in a day", size.agents / _SWEPT / _DAY_S, "a sweep for each partition, as ticks have it"
        held = size.workers * (ground.threads + 1) / ground.connections
        yield "connections of a server", held, "raise `maxclients`; fewer, fuller worker processes"
        yield "broker: one core", size.calls * costs.seconds("broker_ms"), "RabbitMQ; a broker for each cell"
        counted = size.calls * costs.seconds("limit_store_us")
        yield (
            "counting a model's limits: one core",
            counted,
            "a name of the model for each cell, with a part of the limit",
        )
        told = size.calls * costs["events_share"] * costs.seconds("store_ms")
        yield "events: one key", told, "cells"

    def played(self, agents: float) -> Played:
        """The busiest hour, simulated for as long as some ten thousand tasks take; the providers' limits are left out."""
        size, costs, ground = self.sizes(agents), self._costs, self._ground
        fleet = Fleet(
            workers=size.workers, threads=ground.threads, worker_s=costs.seconds("worker_ms"), stores=size.primaries_archive,
            store_s=costs.seconds("store_ms"), broker_s=costs.seconds("broker_ms"), limit_s=costs.seconds("limit_store_us"),
        )  # fmt: skip
        seconds = min(_MOST_S, max(_LEAST_S, _PLAYED / size.calls))
        return simulate(fleet, arrivals(size.calls, seconds, Duration(ground.model_s, ground.spread)), seconds)
