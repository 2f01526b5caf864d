"""Wholes that are measured for the simulation to come to: fleets that drain a backlog, clients that push, what agents weigh."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import redis

from om_api.cli.embedded import Embedded
from om_bench.fleet.measuring import machine, said, today, unit_costs
from om_bench.fleet.unit_costs import MeasuredPoint, UnitCosts
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.speed import draining
from om_bench.speed.draining import Drain, DrainPlan

_SLOW = DrainPlan(agents=20_000, workers=(1, 2, 4), concurrency=16, seconds=4)
_QUICK = DrainPlan(agents=4_000, workers=(1,), concurrency=32, seconds=0.3)
_CLIENTS = (1, 2, 4)
_PUSHED_S, _FIRST = 4.0, 200
_AGENTS, _SAID, _AT_ONCE = 20, 500, 10
_BY = "om bench fleet --measure"
# what the real dispatcher comes to by a scripted clock
_FAIR = MeasuredPoint(
    kind="fair", what="longest wait of a small agent beside 200 due scopes of one resource", value=10.0, unit="s",
    by="tests/om_workers/work/test_lasting.py",
    setup={"threads": 16, "scopes": 200, "seconds": 5.0, "every_s": 35.0},
)  # fmt: skip


def measure() -> UnitCosts:
    """Everything anew, in some minutes: let nothing else run on the machine. Raises StoreError when something hangs."""
    slow, quick = draining.measure(_SLOW), draining.measure(_QUICK)
    return UnitCosts(
        day=today(),
        machine=machine(),
        cores=os.cpu_count() or 1,
        units=dict(unit_costs(slow)),
        points=[*_drained(slow), *_drained(quick), *_pushes(), _weight(), _FAIR],
    )


def _drained(drain: Drain) -> Iterator[MeasuredPoint]:
    plan = drain.plan
    for fleet in drain.fleets:
        setup = {"workers": fleet.workers, "threads": plan.concurrency, "seconds": plan.seconds}
        processes = f"{fleet.workers} process{'es' if fleet.workers > 1 else ''}"
        yield MeasuredPoint(
            kind="drain", what=f"backlog: {processes} of {plan.concurrency} threads, a model that takes {plan.seconds:g} s",
            value=round(fleet.rate, 2), unit="a second", by="om bench drain", setup=setup,
        )  # fmt: skip


def _pushes() -> Iterator[MeasuredPoint]:
    for clients in _CLIENTS:
        with Embedded() as store, ProcessPoolExecutor(clients, multiprocessing.get_context("spawn")) as pool:
            found = sum(pool.map(_pushed, [store.url] * clients, range(clients)))
        yield MeasuredPoint(
            kind="push", what=f"pushes of one message by {clients} client process{'es' if clients > 1 else ''}",
            value=round(found), unit="a second", by=_BY, setup={"clients": clients},
        )  # fmt: skip


def _pushed(url: str, number: int) -> float:
    """Pushes a second of one client, after some that are not counted."""
    with pipeline(url) as running:
        for n in range(_FIRST):
            running.om.add_message(said(f"first-{number}-{n}", n))
        began, pushed = time.monotonic(), 0
        while time.monotonic() < began + _PUSHED_S:
            running.om.add_message(said(f"agent-{number}-{pushed % _FIRST}", pushed))
            pushed += 1
        return pushed / (time.monotonic() - began)


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
