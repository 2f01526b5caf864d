"""Wholes that are measured for the simulation to come to: fleets that drain a backlog, clients that push, what agents weigh."""

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import redis

from om_api.cli.embedded import Embedded
from om_bench.fleet.measuring import machine, said, today, unit_costs, used
from om_bench.fleet.unit_costs import MeasuredPoint, UnitCosts
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.harness.processes import idle_s
from om_bench.speed import draining
from om_bench.speed.draining import Drain, DrainPlan

_SLOW = DrainPlan(agents=20_000, workers=(1, 2, 4), concurrency=16, seconds=4)
_QUICK = DrainPlan(agents=4_000, workers=(1,), concurrency=32, seconds=0.3)
_CLIENTS = (1, 2, 4)
_PUSHED_S, _FIRST = 4.0, 200
_AGENTS, _SAID, _AT_ONCE = 20, 500, 10
_BY = "om bench fleet --measure"


def measure() -> UnitCosts:
    """Everything anew, in some minutes: let nothing else run on the machine. Raises StoreError when something hangs."""
    slow, quick = draining.measure(_SLOW), draining.measure(_QUICK)
    return UnitCosts(
        day=today(),
        machine=machine(),
        units=dict(unit_costs(slow)),
        points=[*_drained(slow), *_drained(quick), *_pushes(), _weight()],
    )


def _drained(drain: Drain) -> Iterator[MeasuredPoint]:
    plan = drain.plan
    for fleet in drain.fleets:
        setup = {"workers": fleet.workers, "threads": plan.concurrency, "seconds": plan.seconds, "cores": fleet.cores}
        processes = f"{fleet.workers} process{'es' if fleet.workers > 1 else ''}"
        yield MeasuredPoint(
            kind="drain", what=f"backlog: {processes} of {plan.concurrency} threads, a model that takes {plan.seconds:g} s",
            value=round(fleet.rate, 2), unit="a second", by="om bench drain", setup=setup,
        )  # fmt: skip


def _pushes() -> Iterator[MeasuredPoint]:
    for clients in _CLIENTS:
        with Embedded() as store, ProcessPoolExecutor(clients, multiprocessing.get_context("spawn")) as pool:
            found = list(pool.map(_pushed, [store.url] * clients, range(clients)))
            cores = (
                sum(each.spent + each.store / clients for each in found) + sum(each.idle for each in found) / clients
            )
        yield MeasuredPoint(
            kind="push", what=f"pushes of one message by {clients} client process{'es' if clients > 1 else ''}",
            value=round(sum(each.rate for each in found)), unit="a second", by=_BY,
            setup={"clients": clients, "cores": round(cores, 2)},
        )  # fmt: skip


class _Pushed(NamedTuple):
    """What a client did a second: pushes; processor seconds of its own, of the store for all clients, and of nobody."""

    rate: float
    spent: float
    store: float
    idle: float


def _pushed(url: str, number: int) -> _Pushed:
    """Push for some seconds, after some pushes that are not counted."""
    with pipeline(url) as running, redis.Redis.from_url(url) as bare:
        for n in range(_FIRST):
            running.om.add_message(said(f"first-{number}-{n}", n))
        before, began, pushed = (time.process_time(), used(bare), idle_s()), time.monotonic(), 0
        while time.monotonic() < began + _PUSHED_S:
            running.om.add_message(said(f"agent-{number}-{pushed % _FIRST}", pushed))
            pushed += 1
        seconds, after = time.monotonic() - began, (time.process_time(), used(bare), idle_s())
        took = [(now - then) / seconds for now, then in zip(after, before, strict=True)]
        return _Pushed(pushed / seconds, *took)


def _weight() -> MeasuredPoint:
    """Bytes of an agent that said so many messages, most of which are observed."""
    with Embedded() as store, pipeline(store.url) as running, redis.Redis.from_url(store.url) as bare:
        _live(running, "first")  # what a store takes for any number of agents
        before = bare.info("memory")["used_memory"]
        for agent in range(_AGENTS):
            _live(running, f"agent-{agent}")
        used = bare.info("memory")["used_memory"] - before
        behind, notes = map(sum, zip(*(_behind(running, f"agent-{agent}") for agent in range(_AGENTS)), strict=True))
    return MeasuredPoint(
        kind="memory", what=f"memory of an agent with {_SAID} messages of 300 characters", value=round(used / _AGENTS),
        unit="bytes", by=_BY,
        setup={"agents": _AGENTS, "raw": _SAID * _AGENTS - behind, "behind": behind, "note_tokens": notes},
    )  # fmt: skip


def _live(running: Pipeline, agent: str) -> None:
    for n in range(0, _SAID, _AT_ONCE):
        running.push(*(said(agent, n + each) for each in range(_AT_ONCE)))


def _behind(running: Pipeline, agent: str) -> tuple[int, int]:
    """How many messages stand behind observations, and how many tokens these are."""
    found = running.om.stats(agent)
    each = found[0] if isinstance(found, list) else found
    return each.observed_messages, each.observation_tokens
