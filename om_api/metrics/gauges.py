"""How things are now, from one look at everything to samples: how full memories are, what waits, who works, who answers."""

from collections.abc import Iterator
from typing import NamedTuple

from om_api.billing import budgets, models
from om_api.billing.costs import Left
from om_api.domain.policy import threshold
from om_api.metrics.series import DELIVERIES, EVERYBODY, OTHER, STATES, Sample
from om_api.settings import Settings, recorded_settings
from om_api.settings.recorded_settings import RecordedSettings
from om_api.store.archiving import archivable
from om_api.store.archiving.archivable import ArchiveBacklog
from om_api.store.driver.steps import Steps
from om_api.store.fleet import breaker, event_stream, health, hook_failures, presence, resource_tiers
from om_api.store.fleet.backlog import FleetBacklog, backlog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import Waiting
from om_api.store.fleet.presence import Ticked
from om_api.store.fleet.resource_tiers import Elsewhere, Level, Tiers
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import UNKNOWN

Counted = dict[str, int]
_DISPATCHED = {"observer": "observe", "reflector": "reflect"}  # ticks and what they hand out
MODELS = 200  # models of which one look shows the breaker


class Broker(NamedTuple):
    """How many tasks wait in each queue; none where the broker did not answer."""

    queues: dict[str, int] | None


class Measurements(NamedTuple):
    """What one look found; `now` in server ms.

    `own` and `every` are the counters of resources with a label of their own, and of everybody together; there is no
    `broker` where it is none that can be asked, and nothing of an `archive` where there is none.
    """

    now: int
    own: dict[str, Counted]
    every: Counted
    tiers: dict[str, Tiers]
    elsewhere: Elsewhere
    budgets: list[tuple[str, Left]]
    waiting: list[Waiting]
    ticks: dict[str, Ticked | None]
    breakers: dict[str, BreakerState]
    workers: int
    behind: dict[str, FleetBacklog | None]
    archive: ArchiveBacklog | None = None
    broker: Broker | None = None


def read(settings: Settings, keys: Keys) -> Steps[Measurements]:
    """Look once. Raises StoreError when the store is away."""
    now, ticks = (yield from due.server_ms()), (yield from health.ticks(keys))
    workers, lasting = (yield from health.workers(keys)), (yield from presence.lasting(keys))
    resources = yield from event_stream.measured(keys, settings.memory.metrics.resources)
    *own, every = yield from event_stream.counted(keys, [*resources, None])
    return Measurements(
        now=now,
        own=dict(zip(resources, own, strict=True)),
        every=every,
        tiers=(yield from resource_tiers.tiers(keys, resources)),
        elsewhere=(yield from resource_tiers.elsewhere(keys, resources)),
        budgets=(yield from budgets.remaining(settings, keys, resources, now)),
        waiting=(yield from health.waiting(keys)),
        ticks=ticks,
        breakers=(yield from breaker.states(keys, models.with_breaker(settings)[:MODELS])),
        workers=len(workers),
        behind={queue: backlog(queue, ticks[tick], workers, lasting) for tick, queue in _DISPATCHED.items()},
        archive=(yield from archivable.backlog(keys)) if settings.memory.archived else None,
    )


def of_gauges(found: Measurements, settings: Settings) -> Iterator[Sample]:
    """Every gauge, and the counters that are of no memory; what is not known, such as a ratio to nothing, is left out."""
    for resource, tiers in found.tiers.items():
        otherwise = recorded_settings.of(settings.for_agent(resource))
        for name, value in (*_tokens(tiers), *_pressures(tiers, otherwise)):
            yield Sample(name, (resource,), value)
    yield from _quarantines(found)
    yield from _budgets(found)
    yield from _work(found)
    yield from _archiving(found)
    for model, state in found.breakers.items():
        for word in STATES:
            yield Sample("cortex_om_breaker_state", (model, word), int(state.word == word))
    yield Sample("cortex_om_workers", (), found.workers)
    yield Sample("cortex_om_unknown_scopes_total", (), found.every.get("unknown", 0))
    for outcome in DELIVERIES:
        yield Sample("cortex_om_webhook_deliveries_total", (outcome,), found.every.get(f"webhook|{outcome}", 0))
    for hook, times in sorted(hook_failures.failures(found.every).items()):
        yield Sample("cortex_om_hook_failures_total", hook, times)
    yield Sample("cortex_om_resources", (), found.elsewhere.resources)
    yield Sample("cortex_om_measured_resources", (), len(found.own))
    yield Sample("cortex_om_unreadable_resources", (), len(found.own) - len(found.tiers))
    yield Sample("cortex_om_threads_left_out", (), sum(tiers.left_out for tiers in found.tiers.values()))


def _tokens(tiers: Tiers) -> Iterator[tuple[str, float]]:
    records = [level.record for level in tiers.scopes]
    observations = sum(record.observation_tokens for record in records)
    reflections = sum(record.reflection_tokens for record in records)
    for tier, tokens in (("messages", tiers.unsealed), ("observations", observations), ("reflections", reflections)):
        yield f"cortex_om_{tier}_tokens", tokens
        yield f"cortex_om_{tier}_tokens_total", tokens
    yield "cortex_om_chunks_tokens", sum(record.chunk_tokens for record in records)
    if kept := observations + reflections:
        yield "cortex_om_compression_ratio", sum(record.observed_tokens for record in records) / kept


def _pressures(tiers: Tiers, otherwise: RecordedSettings) -> Iterator[tuple[str, float]]:
    found = [_pressure(level, otherwise) for level in tiers.scopes]
    yield "cortex_om_message_pressure_ratio", max((raw for raw, _ in found), default=0)
    yield "cortex_om_observation_pressure_ratio", max((observed for _, observed in found), default=0)


def _pressure(level: Level, otherwise: RecordedSettings) -> tuple[float, float]:
    """A scope's raw window and observations beside the thresholds that its record carries, or else the settings."""
    limits, record = (recorded_settings.read(level.record.limits) or otherwise).limits, level.record
    raw = level.unsealed + record.chunk_tokens
    thresholds = (threshold(limits, record.observation_tokens), limits.observation_threshold)
    raw_most, observed_most = (max(1, tokens) for tokens in thresholds)  # the record may say anything
    return raw / raw_most, record.observation_tokens / observed_most


def _quarantines(found: Measurements) -> Iterator[Sample]:
    """Of resources with a label of their own, of others together, and of nobody's messages."""
    sizes = {name: tiers.rejected for name, tiers in found.tiers.items()}
    sizes |= {OTHER: found.elsewhere.rejected, UNKNOWN: found.elsewhere.unknown}
    for name, size in sizes.items():
        yield Sample("cortex_om_quarantine_messages", (name,), size)


def _budgets(found: Measurements) -> Iterator[Sample]:
    """Every budget that is stated; one that permits nothing is used up."""
    for whose, left in found.budgets:
        labels = (EVERYBODY if whose == budgets.ALL else whose, left.setting)
        yield Sample("cortex_om_budget_used_ratio", labels, left.used / left.limit if left.limit else 1)


def _work(found: Measurements) -> Iterator[Sample]:
    for each in found.waiting:
        yield Sample("cortex_om_lag_seconds", (each.what,), each.longest / 1000)
        yield Sample("cortex_om_due_scopes", (each.what,), each.due)
    for queue, behind in found.behind.items():
        yield Sample("cortex_om_workers_wanted", (queue,), behind.soon if behind else 0)
    if found.broker:
        yield Sample("cortex_om_broker_up", (), int(found.broker.queues is not None))
        for name, tasks in (found.broker.queues or {}).items():
            yield Sample("cortex_om_queue_tasks", (name,), tasks)
    for name, tick in found.ticks.items():
        if tick:
            yield Sample("cortex_om_tick_age_seconds", (name,), max(0, found.now - tick.at) / 1000)
            yield Sample("cortex_om_tick_interval_seconds", (name,), tick.interval)


def _archiving(found: Measurements) -> Iterator[Sample]:
    """Nothing where there is no archive: an alarm must tell that from one that keeps up."""
    if found.archive is None:
        return
    fault = found.archive.fault
    yield Sample("cortex_om_archive_due", (), found.archive.due)
    yield Sample("cortex_om_archive_behind_seconds", (), found.archive.behind_ms / 1000)
    yield Sample("cortex_om_archive_failing_seconds", (), max(1, found.now - fault.since) / 1000 if fault else 0)
    yield Sample("cortex_om_archived_total", (), found.every.get("archived", 0))
