"""What `om top` shows: the agents most worth a look, whatever number of them there is."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from om_api.core import Core
from om_api.prices import MICROS
from om_api.store import due, glancing
from om_api.store.connection import Connection, open_client
from om_api.store.spoilt import of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from om_api.core import Stats
    from om_api.settings import Settings
    from om_api.store.glancing import Glance
    from om_api.store.steps import Steps

Order = Literal["pressure", "lag", "cost", "activity"]
ORDERS: tuple[Order, ...] = ("pressure", "lag", "cost", "activity")
AMONG = 1_000
_TIMEOUT_S = 5.0


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: tokens by tier, their share of the thresholds, chunks, lag (s), dollars today, and its last message (Unix ms).

    `pressure` is the raw window, chunks included, over its threshold; `fill` the observations over theirs; `lag` for how
    long its oldest work has been waiting, or under way.
    """

    resource: str
    message_tokens: int
    chunk_tokens: int
    message_threshold: int
    pressure: float
    observation_tokens: int
    observation_threshold: int
    fill: float
    reflection_tokens: int
    generation: int
    chunks: int
    ready_chunks: int
    lag: float
    cost_today: float
    rejected: int
    paused: bool
    at: int


class Top(NamedTuple):
    """The agents in their order, of how many that workers have met, and among how many they were chosen."""

    agents: list[Agent]
    known: int
    among: int


@contextmanager
def watching(settings: Settings) -> Iterator[Callable[[Order, int], Top]]:
    """Yields what looks at the store, as often as it is called, over one connection. Looking raises StoreError."""
    connection = Connection(open_client(settings.redis_url, _TIMEOUT_S))
    core = Core(settings, len)  # no text is counted here
    try:
        yield lambda order, most: connection.run(look(core, order, most))
    finally:
        connection.close()


def look(core: Core, order: Order, most: int) -> Steps[Top]:
    """The `most` agents that come first in an order, most of it first.

    Chosen among the 1,000 that workers looked at last and those of the 1,000 longest due scopes: what it costs does not
    grow with the number of agents. Who holds what is not ours is left out, and hides no other one.
    """
    now = yield from due.server_ms()
    waited = yield from glancing.lags(core.keys, now, AMONG)
    known, names = yield from glancing.newest(core.keys, AMONG)
    among = list(dict.fromkeys((*names, *waited)))
    found = yield from glancing.glances(core.keys, among, waited, now)
    first = sorted(found, key=lambda each: _rank(core.settings, each, order), reverse=True)[:most]
    chosen = {glance.resource: glance for glance in first}
    agents = yield from of_each(partial(_agents, core, chosen), list(chosen))
    return Top(
        sorted(agents.values(), key=lambda each: _place(each, order), reverse=True), max(known, len(among)), len(among)
    )


def _agents(core: Core, glances: Mapping[str, Glance], names: Sequence[str]) -> Steps[dict[str, Agent]]:
    found: dict[str, Agent] = {}
    for name in names:
        found[name] = _agent(glances[name], (yield from core.stats(name)))
    return found


def _rank(settings: Settings, glance: Glance, order: Order) -> float:
    if order == "pressure":
        return glance.window / settings.for_agent(glance.resource).message_threshold
    return {"lag": glance.lag, "cost": glance.micros / MICROS, "activity": glance.at}[order]


def _place(agent: Agent, order: Order) -> float:
    return {"pressure": agent.pressure, "lag": agent.lag, "cost": agent.cost_today, "activity": agent.at}[order]


def _agent(glance: Glance, stats: Stats) -> Agent:
    return Agent(
        resource=stats.resource,
        message_tokens=stats.message_tokens,
        chunk_tokens=stats.chunk_tokens,
        message_threshold=stats.message_threshold,
        pressure=round((stats.message_tokens + stats.chunk_tokens) / max(1, stats.message_threshold), 3),
        observation_tokens=stats.observation_tokens,
        observation_threshold=stats.observation_threshold,
        fill=round(stats.observation_tokens / max(1, stats.observation_threshold), 3),
        reflection_tokens=stats.reflection_tokens,
        generation=stats.generation,
        chunks=stats.chunks,
        ready_chunks=stats.ready_chunks,
        lag=stats.lag,
        cost_today=stats.cost_today,
        rejected=stats.rejected,
        paused=stats.paused,
        at=glance.at,
    )
