"""What waits, who works, which models answer: from a reading to samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.metrics.sample import Sample
from om_api.metrics.series import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from om_api.metrics.reading import Reading


def of_service(reading: Reading) -> Iterator[Sample]:
    """Everything that is not of one memory."""
    yield from _waiting(reading)
    yield from _ticks(reading)
    yield from _breakers(reading)
    yield Sample("cortex_om_workers", (), reading.workers)
    yield Sample("cortex_om_unknown_scopes_total", (), reading.every.get("unknown", 0))
    yield Sample("cortex_om_resources", (), reading.elsewhere.resources)
    yield Sample("cortex_om_measured_resources", (), len(reading.own))
    yield Sample("cortex_om_unreadable_resources", (), len(reading.own) - len(reading.tiers))
    yield Sample("cortex_om_threads_left_out", (), sum(tiers.left_out for tiers in reading.tiers.values()))


def _waiting(reading: Reading) -> Iterator[Sample]:
    for each in reading.waiting:
        yield Sample("cortex_om_lag_seconds", (each.what,), each.longest / 1000)
        yield Sample("cortex_om_due_scopes", (each.what,), each.due)
    if reading.broker:
        yield Sample("cortex_om_broker_up", (), int(reading.broker.queues is not None))
        for name, tasks in (reading.broker.queues or {}).items():
            yield Sample("cortex_om_queue_tasks", (name,), tasks)


def _ticks(reading: Reading) -> Iterator[Sample]:
    for name, tick in reading.ticks.items():
        if tick:
            yield Sample("cortex_om_tick_age_seconds", (name,), max(0, reading.now - tick.at) / 1000)
            yield Sample("cortex_om_tick_interval_seconds", (name,), tick.interval)


def _breakers(reading: Reading) -> Iterator[Sample]:
    for model, state in reading.breakers.items():
        for word in STATES:
            yield Sample("cortex_om_breaker_state", (model, word), int(state.word == word))
