"""What `om top` shows: the agents most worth a look, whatever number of them there is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, get_args

import msgspec

from om_api.billing.prices import MICROS
from om_api.client.reading import Scopes
from om_api.client.stats import Stats
from om_api.client.watching import Watcher
from om_api.domain.learned import learned
from om_api.settings import Settings
from om_api.store.driver.connection import connected
from om_api.store.driver.steps import Steps
from om_api.store.fleet import resource_summaries
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.memory import due
from om_api.store.memory.keys import keys_of

Order = Literal["pressure", "lag", "cost", "activity"]
ORDERS: tuple[Order, ...] = get_args(Order)
AMONG = 1_000


@learned
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
    with connected(settings.redis_url) as connection:
        yield lambda order, most: connection.run(look(settings, order, most))


def look(settings: Settings, order: Order, most: int) -> Steps[Top]:
    """The `most` agents that come first in an order, most of it first.

    Chosen among the 1,000 that workers looked at last and those of the 1,000 longest due scopes: what it costs does not
    grow with the number of agents. Who holds what is not ours is left out, and hides no other one.
    """
    keys = keys_of(settings)
    now = yield from due.server_ms()
    waited = yield from resource_summaries.lags(keys, now, AMONG)
    known, names = yield from resource_summaries.newest(keys, AMONG)
    among = list(dict.fromkeys((*names, *waited)))
    found = yield from resource_summaries.summaries(keys, among, waited, now)
    first = sorted(found, key=lambda each: _rank(settings, each, order), reverse=True)[:most]
    stats = yield from Watcher(settings, keys, Scopes(settings, keys)).each_stats([each.resource for each in first])
    agents = [_agent(each, stats[each.resource]) for each in first if each.resource in stats]
    return Top(sorted(agents, key=lambda each: _place(each, order), reverse=True), max(known, len(among)), len(among))


def _rank(settings: Settings, summary: ResourceSummary, order: Order) -> float:
    if order == "pressure":
        return summary.window / settings.for_agent(summary.resource).message_threshold
    return {"lag": summary.lag, "cost": summary.micros / MICROS, "activity": summary.at}[order]


def _place(agent: Agent, order: Order) -> float:
    return {"pressure": agent.pressure, "lag": agent.lag, "cost": agent.cost_today, "activity": agent.at}[order]


def _agent(summary: ResourceSummary, stats: Stats) -> Agent:
    ratios = {
        "pressure": round((stats.message_tokens + stats.chunk_tokens) / max(1, stats.message_threshold), 3),
        "fill": round(stats.observation_tokens / max(1, stats.observation_threshold), 3),
    }
    return msgspec.convert({**msgspec.structs.asdict(stats), **ratios, "at": summary.at}, Agent)
