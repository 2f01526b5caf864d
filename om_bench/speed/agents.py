"""Agents in bulk: one is made by the real client and workers, the others are copies of everything that left in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import redis

from om_api import Message
from om_api.cli.embedded import Embedded
from om_api.store.fleet.health import QUEUES
from om_api.store.memory.keys import Keys
from om_bench.harness.pipeline import Pipeline, pipeline
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.rounds import Rounds
from om_workers.work.sweep import Sweeper

_FIRST = "agent0000000"
_SLICE = 1_000
_PATIENCE_S = 60.0  # a store of millions of keys may stand still for seconds while it grows its tables
_MESSAGES = 3  # more than stay raw anyhow, so that every agent stands in the due index with its idle deadline
_COPY = """
-- KEYS: resources, due, then every key of an agent; ARGV: its name, the first and the last number, its scores in both indexes
for number = ARGV[2], ARGV[3] do
  local name = string.format('agent%07d', number)
  for i = 3, #KEYS do
    redis.call('COPY', KEYS[i], (string.gsub(KEYS[i], ARGV[1], name, 1)))
  end
  redis.call('ZADD', KEYS[1], ARGV[4], name)
  redis.call('ZADD', KEYS[2], ARGV[5], name)
end
"""


class Nobody:
    """Takes what is passed on and does nothing: what the rounds cost is measured, not what follows."""

    def observe(self, scope: str, lease: str) -> None:
        """See TaskQueues."""

    def reflect(self, scope: str, lease: str) -> None:
        """See TaskQueues."""

    def adopt(self, *keys: str) -> None:
        """See TaskQueues."""

    def waiting(self, _queue: str) -> int:
        """See TaskQueues."""
        return 0

    def held(self, _queue: str) -> list[str]:
        """See TaskQueues."""
        return []


class Town(NamedTuple):
    """Agents at rest, by name, on a store that nobody else uses; the workers' rounds over them."""

    names: Sequence[str]
    rounds: Rounds
    keys: Keys
    bare: redis.Redis


@contextmanager
def town(count: int) -> Iterator[Town]:
    """So many agents that said something, were looked at by the workers, and have been left alone for twenty minutes."""
    with (
        Embedded() as store,
        pipeline(store.url, {}) as running,
        redis.Redis.from_url(store.url, socket_timeout=_PATIENCE_S) as bare,
    ):
        bare.config_set("appendonly", "no")  # nobody needs these agents tomorrow
        keys = running.services.keys
        settle(running)
        names = copies(bare, keys, count)
        services = running.services._replace(queues=Nobody())
        services.presence.serve(QUEUES, count)
        yield Town(names, Rounds(services, Dispatcher(services), lambda: False), keys, bare)


def settle(running: Pipeline) -> None:
    """Make the agent that the others are copies of."""
    said = [Message(role="user", content="x" * 400, thread_id="t-1", resource_id=_FIRST) for _ in range(_MESSAGES)]
    running.push(*said)
    Sweeper(running.services).sweep()


def copies(bare: redis.Redis, keys: Keys, count: int) -> list[str]:
    """Copy everything that lasts of the first agent, until there are `count` of them; the names of all."""
    own = sorted(key for key in bare.scan_iter(f"{keys.of(_FIRST).base}:*", count=1_000) if bare.ttl(key) < 0)
    scores = [bare.zscore(index, _FIRST) or 0 for index in (keys.resources, keys.due_observe)]
    copy = bare.register_script(_COPY)
    for start in range(1, count, _SLICE):
        copy([keys.resources, keys.due_observe, *own], [_FIRST, start, min(start + _SLICE, count) - 1, *scores])
    return [f"agent{number:07d}" for number in range(count)]
