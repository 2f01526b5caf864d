"""How full memories are, what stands in quarantine, what is left of budgets: from a reading to samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api import accounts, in_force
from om_api.metrics.sample import Sample
from om_api.metrics.series import EVERYBODY, OTHER
from om_api.policy import threshold
from om_api.store.quarantine import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from om_api.in_force import InForce
    from om_api.metrics.reading import Reading
    from om_api.settings import Settings
    from om_api.store.measuring import Level, Tiers


def of_memories(reading: Reading, settings: Settings) -> Iterator[Sample]:
    """The tiers of every resource with a label of its own; what is not known, such as a ratio to nothing, is left out."""
    for resource, tiers in reading.tiers.items():
        otherwise = in_force.of(settings.for_agent(resource))
        for name, value in (*_tokens(tiers), *_pressures(tiers, otherwise)):
            yield Sample(name, (resource,), value)


def _tokens(tiers: Tiers) -> Iterator[tuple[str, float]]:
    records = [level.record for level in tiers.scopes]
    observations = sum(record.observation_tokens for record in records)
    reflections = sum(record.reflection_tokens for record in records)
    yield "cortex_om_messages_tokens", tiers.unsealed
    yield "cortex_om_chunks_tokens", sum(record.chunk_tokens for record in records)
    yield "cortex_om_observations_tokens", observations
    yield "cortex_om_reflections_tokens", reflections
    if kept := observations + reflections:
        yield "cortex_om_compression_ratio", sum(record.observed_tokens for record in records) / kept


def _pressures(tiers: Tiers, otherwise: InForce) -> Iterator[tuple[str, float]]:
    found = [_pressure(level, otherwise) for level in tiers.scopes]
    yield "cortex_om_message_pressure_ratio", max((raw for raw, _ in found), default=0)
    yield "cortex_om_observation_pressure_ratio", max((observed for _, observed in found), default=0)


def _pressure(level: Level, otherwise: InForce) -> tuple[float, float]:
    """A scope's raw window and observations beside the thresholds that its record carries, or else the settings."""
    limits, record = (in_force.read(level.record.limits) or otherwise).limits, level.record
    raw = level.unsealed + record.chunk_tokens
    thresholds = (threshold(limits, record.observation_tokens), limits.observation_threshold)
    raw_most, observed_most = (max(1, tokens) for tokens in thresholds)  # the record may say anything
    return raw / raw_most, record.observation_tokens / observed_most


def of_quarantines(reading: Reading) -> Iterator[Sample]:
    """The quarantines of resources with a label of their own, of others together, and of nobody's messages."""
    sizes = {name: tiers.rejected for name, tiers in reading.tiers.items()}
    sizes |= {OTHER: reading.elsewhere.rejected, UNKNOWN: reading.elsewhere.unknown}
    for name, size in sizes.items():
        yield Sample("cortex_om_quarantine_messages", (name,), size)


def of_budgets(reading: Reading) -> Iterator[Sample]:
    """Every budget that is stated; one that permits nothing is used up."""
    for whose, left in reading.budgets:
        share = left.used / left.limit if left.limit else 1
        yield Sample(
            "cortex_om_budget_used_ratio", (EVERYBODY if whose == accounts.ALL else whose, left.setting), share
        )
