"""What ticks cost, as much as is due: over agents of which one was made by the real client and workers, the others are copies."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import redis

from om_api import Message
from om_api.cli.embedded import Embedded
from om_api.store.fleet.health import QUEUES
from om_api.store.memory.keys import Keys, queued
from om_bench.harness.pipeline import KeptTasks, pipeline
from om_bench.speed.stand import Figure, Stand, beside, timed
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
_REACH = 1.3
_DUE = 100
_FEW, _MANY, _ALL = 1_000, 100_000, 1_000_000
_TICKS, _SWEEPS = 300, 3


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
        pipeline(store.url) as running,
        redis.Redis.from_url(store.url, socket_timeout=_PATIENCE_S) as bare,
    ):
        bare.config_set("appendonly", "no")  # nobody needs these agents tomorrow
        keys = running.services.keys
        running.push(
            *(Message(role="user", content="x" * 400, thread_id="t-1", resource_id=_FIRST) for _ in range(_MESSAGES))
        )
        Sweeper(running.services).sweep()
        names = _copies(bare, keys, count)
        services = running.services._replace(queues=KeptTasks(0))  # what the rounds cost is measured, not what follows
        services.presence.serve(QUEUES, count)
        yield Town(names, Rounds(services, Dispatcher(services), lambda _: 0), keys, bare)


def _copies(bare: redis.Redis, keys: Keys, count: int) -> list[str]:
    """Copy everything that lasts of the first agent, until there are `count` of them; the names of all."""
    own = sorted(key for key in bare.scan_iter(f"{keys.of(_FIRST).base}:*", count=1_000) if bare.ttl(key) < 0)
    scores = [bare.zscore(index, _FIRST) or 0 for index in (keys.resources, keys.due_observe)]
    copy = bare.register_script(_COPY)
    for start in range(1, count, _SLICE):
        copy([keys.resources, keys.due_observe, *own], [_FIRST, start, min(start + _SLICE, count) - 1, *scores])
    return [f"agent{number:07d}" for number in range(count)]


def observer_tick(_stand: Stand) -> Iterator[Figure]:
    """A tick of the observer's with 100 scopes due, where there are 100,000 agents and where there are 1,000."""
    with town(_FEW) as few, town(_MANY) as many:
        yield _beside(
            f"observer tick, {_DUE} due of {_MANY:,} agents beside {_FEW:,}", _observe(_DUE), many, few, _TICKS
        )


def idle_agents(_stand: Stand) -> Iterator[Figure]:
    """Every tick that a beat sends, with nothing due, where there are 1,000,000 agents and where there are 1,000."""
    with town(_FEW) as few, town(_ALL) as all_:
        for name, tick, rounds in (
            ("observer tick", _observe(0), _TICKS),
            ("reflector tick", _reflect, _TICKS),
            ("sweep", _sweep, _SWEEPS),
        ):
            yield _beside(f"{name}, {_ALL:,} idle agents beside {_FEW:,}", tick, all_, few, rounds)


def _beside(work: str, tick: Callable[[Town], float], many: Town, few: Town, rounds: int) -> Figure:
    """The same tick in both in turns; what came before it is not timed."""
    pairs = [(tick(many), tick(few)) for _ in range(rounds)]
    return beside(work, [one for one, _ in pairs], [other for _, other in pairs], _REACH)


def _observe(due: int) -> Callable[[Town], float]:
    def tick(town: Town) -> float:
        if due:
            town.bare.zadd(town.keys.due_observe, dict.fromkeys(town.names[:: len(town.names) // due], 0))
        town.bare.delete(town.keys.tick("observer"), queued(town.keys.due_observe))
        return timed(town.rounds.observe)

    return tick


def _reflect(town: Town) -> float:
    town.bare.delete(town.keys.tick("reflector"))
    return timed(town.rounds.reflect)


def _sweep(town: Town) -> float:
    town.bare.delete(town.keys.tick("sweep"))
    return timed(town.rounds.sweep)
