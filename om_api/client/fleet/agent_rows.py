"""One agent of the table of all: how it stands as numbers that take little room, and as what is told of it."""

from collections.abc import Iterator
from struct import Struct
from typing import Literal, NamedTuple, get_args

import msgspec

from om_api.billing import costs
from om_api.billing.prices import MICROS
from om_api.domain.learned import learned
from om_api.domain.policy import threshold
from om_api.settings import Settings, recorded_settings
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.fleet.resource_tiers import Level

State = Literal["broken", "paused", "stopped", "quarantine", "waiting", "ok"]
STATES: tuple[State, ...] = get_args(State)
_NONE = -1.0  # of what has no value: it stands below all that has one
_LATE = 2.0**52  # ms: since when an agent waits is taken off it, so that who waits for longest has most
_LARGEST = 2**53


@learned
class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: tokens by tier, their share of the thresholds, chunks, lag (s), dollars today, and its last message (Unix ms).

    `pressure` is the raw window, chunks included, over its threshold; `fill` the observations over theirs: of a memory for each
    thread those of the fullest one. `chunks` are not activated yet, of which `ready_chunks` are noted. `lag` is for how long its
    oldest due scope has been waiting, or under way. `compression` is how many tokens of messages stand behind one of notes.
    `budget_used` is the share of the budget that is nearest to its end today, None without one. `state` is the first of these
    that is so: its keys are `broken`, it is `paused`, `stopped` by its budget, has messages in `quarantine`, is `waiting`, `ok`.
    """

    resource: str
    state: State
    message_tokens: int = 0
    chunk_tokens: int = 0
    message_threshold: int = 0
    pressure: float = 0.0
    observation_tokens: int = 0
    observation_threshold: int = 0
    fill: float = 0.0
    reflection_tokens: int = 0
    generation: int = 0
    chunks: int = 0
    ready_chunks: int = 0
    lag: float = 0.0
    compression: float | None = None
    cost_today: float = 0.0
    budget_used: float | None = None
    rejected: int = 0
    paused: bool = False
    at: int = 0


class Row(NamedTuple):
    """The same as the table holds it; `waits` is greater the longer the oldest due scope waits, 0 where none does.

    `pauses`: once its budget is used up nothing goes on. `round` is that in which it was read.
    """

    message_tokens: float = 0
    chunk_tokens: float = 0
    observation_tokens: float = 0
    reflection_tokens: float = 0
    message_threshold: float = 0
    observation_threshold: float = 0
    pressure: float = 0
    fill: float = 0
    generation: float = 0
    chunks: float = 0
    waits: float = 0
    compression: float = _NONE
    micros: float = 0
    budget: float = _NONE
    rejected: float = 0
    at: float = 0
    state: int = 0
    paused: bool = False
    pauses: bool = False
    round: int = 0

    def packed(self) -> bytes:
        """It in as little room as it takes."""
        return _PACKED.pack(*self)

    def standing(self) -> "Row":
        """It in the state that its numbers say."""
        facts = (self.paused, self.pauses and self.budget >= 1, self.rejected > 0, self.waits > 0, True)
        return self._replace(state=1 + facts.index(True))

    def on_a_new_day(self) -> "Row":
        """It with nothing spent yet."""
        return self._replace(micros=0, budget=min(self.budget, 0.0)).standing() if self.state else self


_PACKED = Struct(f"<{Row._fields.index('state')}dB??I")
STATE_AT = 8 * Row._fields.index("state")  # the byte that is its state
BROKEN = Row()


def unpacked(packed: bytes) -> Row:
    """A row of which `packed` was kept."""
    return Row(*_PACKED.unpack(packed))


def waits_since(at: float) -> float:
    """What stands for waiting since a time (Unix ms), and that time for what stands for it; 0 for none."""
    return _LATE - at if at else 0


def row_of(settings: Settings, summary: ResourceSummary, number: int) -> Row:
    """What was read of an agent, in a round of this number."""
    own, levels, used = settings.for_agent(summary.resource), summary.tiers.scopes, summary.used
    shares = [_Share(*each) for each in _shares(settings, summary.resource, levels)] or [_Share(0, 0, 0, 0)]
    notes = sum(level.record.observation_tokens + level.record.reflection_tokens for level in levels)
    budgets = list(costs.left("budget", own.budget, used._replace(micros=min(used.micros or 0, _LARGEST))))
    return Row(
        message_tokens=summary.tiers.unsealed,
        chunk_tokens=sum(level.record.chunk_tokens for level in levels),
        observation_tokens=sum(level.record.observation_tokens for level in levels),
        reflection_tokens=sum(level.record.reflection_tokens for level in levels),
        message_threshold=shares[0].message_threshold,
        observation_threshold=shares[0].observation_threshold,
        pressure=max(share.pressure for share in shares),
        fill=max(share.fill for share in shares),
        generation=max((level.record.generation for level in levels), default=0),
        chunks=sum(level.chunks for level in levels),
        waits=waits_since(summary.due_since),
        compression=round(sum(level.record.observed_tokens for level in levels) / notes, 2) if notes else _NONE,
        micros=min(used.micros or 0, _LARGEST),
        budget=max((each.used / each.limit if each.limit else 1.0 for each in budgets), default=_NONE),
        rejected=summary.tiers.rejected,
        at=summary.at,
        paused=summary.paused,
        pauses=own.budget.then == "pause",
        round=number,
    ).standing()


class _Share(NamedTuple):
    """The thresholds of one scope, and the share of each that is reached."""

    message_threshold: int
    observation_threshold: int
    pressure: float
    fill: float


def _shares(settings: Settings, resource: str, levels: tuple[Level, ...]) -> Iterator[tuple[int, int, float, float]]:
    for level in levels:
        record = level.record
        recorded = recorded_settings.read(record.limits) or recorded_settings.of(settings.for_agent(resource))
        limits = recorded.limits
        raw, observed = threshold(limits, record.observation_tokens), limits.observation_threshold
        pressure = (level.unsealed + record.chunk_tokens) / max(1, raw)
        yield raw, observed, pressure, record.observation_tokens / max(1, observed)


def agent_of(resource: str, row: Row, now: int, ready: int) -> Agent:
    """What is told of an agent at server ms `now`."""
    numbers = {name: int(getattr(row, name)) for name in _WHOLE}
    return Agent(
        resource=resource,
        state=STATES[row.state],
        **numbers,
        ready_chunks=ready,
        pressure=round(row.pressure, 3),
        fill=round(row.fill, 3),
        lag=round(max(0.0, now - waits_since(row.waits)) / 1000, 1) if row.waits else 0.0,
        compression=None if row.compression == _NONE else row.compression,
        cost_today=row.micros / MICROS,
        budget_used=None if row.budget == _NONE else round(row.budget, 3),
        paused=row.paused,
    )


_WHOLE = (
    *("message_tokens", "chunk_tokens", "observation_tokens", "reflection_tokens", "message_threshold"),
    *("observation_threshold", "generation", "chunks", "rejected", "at"),
)
