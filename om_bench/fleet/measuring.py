"""`om bench fleet --measure`: what single things cost on this machine, and whole fleets for the simulation to come to."""

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

import redis

from om_api import Message
from om_api.cli.embedded import Embedded
from om_api.domain.tokens import counter
from om_api.store.fleet.rates import Rate, RateLimiter
from om_bench.cost.calls import agent
from om_bench.cost.memory import replay
from om_bench.cost.wire import size
from om_bench.fleet.unit_costs import UnitCost
from om_bench.harness.pipeline import pipeline
from om_bench.speed.draining import Drain
from om_bench.speed.full import THREAD, Full
from om_bench.speed.stand import Stand

_PUSHES, _READS, _TAKES = 4_000, 100, 2_000
_OBSERVED, _TOKENS = 40, 6_000
_PARTS = 64
_CALLS, _RATIO = 300, 10.0  # of the agent of `om bench cost`, and the tokens of messages to one of notes
_PER_MINUTE = 60_000  # a limit that is never reached here
_TEXT = "The invoice of the harbour is due on Friday, and Anna wants the letter by Thursday. "
_BY = "om bench fleet --measure"


class Spent(NamedTuple):
    """Microseconds of processors that a thing took: of its own process, and of the store."""

    ours: float
    store: float


def unit_costs(drain: Drain) -> Iterator[tuple[str, UnitCost]]:
    """What single things cost by their names, those of an observation as fleets took them that worked off a backlog."""
    yield from _of_observations(drain)
    with Embedded() as store, pipeline(store.url) as running, redis.Redis.from_url(store.url) as bare:
        stand = Stand(store.url, running, bare)
        yield from _of_agents(stand)
        yield from _of_the_fleet(stand)
    yield from _of_models()


def _of_observations(drain: Drain) -> Iterator[tuple[str, UnitCost]]:
    whose = {
        "worker_ms": "processor time of its worker process for an observation",
        "store_ms": "processor time of the store for an observation",
        "broker_ms": "processor time of the broker for a task",
        "model_ms": "processor time of the model that plays on the same machine, for a call",
    }
    for name, what in whose.items():
        found = median(getattr(fleet, name) for fleet in drain.fleets)
        yield name, UnitCost(value=round(found, 3), unit="ms", what=what, by="om bench drain")
    memory = median(fleet.resident for fleet in drain.fleets) / 1e6
    yield "worker_mb", UnitCost(value=round(memory), unit="MB", what="memory of a worker process", by="om bench drain")


def _of_agents(stand: Stand) -> Iterator[tuple[str, UnitCost]]:
    texts, names = iter(range(_PUSHES)), [f"agent-{n}" for n in range(200)]
    pushed = _spent(stand, _PUSHES, lambda: stand.om.add_message(said(names[(n := next(texts)) % 200], n)))
    yield "push_client_us", _us(pushed.ours, "processor time of a client for a push of one message of 300 characters")
    yield "push_store_us", _us(pushed.store, "processor time of the store for it")
    full = Full(stand, "reader")
    full.build()

    def read() -> None:
        full.turn()
        stand.om.get_context(THREAD, full.resource).as_openai()

    found = _spent(stand, _READS, read)
    yield "context_client_us", _us(found.ours, "processor time of a client for a warm context of 70,000 tokens")
    yield "context_store_us", _us(found.store, "processor time of the store for it")


def _of_the_fleet(stand: Stand) -> Iterator[tuple[str, UnitCost]]:
    services = stand.running.services
    limiter = RateLimiter(services.connection, services.keys)
    rate = Rate(_PER_MINUTE, 10**12)
    taken = _spent(stand, _TAKES, lambda: limiter.take("bench", rate, _TOKENS))
    yield "limit_store_us", _us(taken.store, "processor time of the store to count one call against a model's limits")
    share = _events(stand)
    what = "share of an observation's commands that go to the one key of the events"
    yield "events_share", UnitCost(value=round(share, 4), unit="", what=what, by=_BY)


def _of_models() -> Iterator[tuple[str, UnitCost]]:
    count = counter()
    calls = agent(_CALLS)[1]
    asked = [each for call in replay(calls, (), _RATIO, count, None).asked for each in call]
    said = sum(count(str(message.content)) for call in calls for message in call.messages)
    for name, what, found in (
        ("calls_per_token", "calls of observer and reflector for a token of messages", len(asked)),
        ("input_per_token", "tokens that these are sent, for a token of messages", sum(size(each.pieces) for each in asked)),
        ("output_per_token", "tokens that these answer, for a token of messages", sum(each.output for each in asked)),
    ):  # fmt: skip
        yield name, UnitCost(value=float(f"{found / said:.4g}"), unit="", what=what, by="om bench cost")


def _us(found: float, what: str) -> UnitCost:
    return UnitCost(value=round(found, 1), unit="us", what=what, by=_BY)


def said(name: str, n: int) -> Message:
    """What an agent says in 300 characters, that nobody said before."""
    return Message(role="user", content=f"{n} {_TEXT * 4}"[:300], thread_id=THREAD, resource_id=name)


def _spent(stand: Stand, times: int, work: Callable[[], object]) -> Spent:
    """What each of so many times took, after some that are not counted."""
    for _ in range(max(1, times // 20)):
        work()
    ours, store = time.process_time(), used(stand.bare)
    for _ in range(times - times // 20):
        work()
    done = times - times // 20
    return Spent(1e6 * (time.process_time() - ours) / done, 1e6 * (used(stand.bare) - store) / done)


def used(bare: redis.Redis) -> float:
    """Seconds of processor time that a server took so far."""
    told: Mapping[str, float] = bare.info("cpu")
    return told["used_cpu_user"] + told["used_cpu_sys"]


def _events(stand: Stand) -> float:
    """Which share of the commands that clients send for an observation names the events."""
    for n in range(_OBSERVED):
        said = Message(role="user", content=f"{n}", tokens=_TOKENS, thread_id=THREAD, resource_id=f"told-{n}")
        stand.om.add_message(said)
    own, seen = stand.running.services.keys.events.encode(), [0, 0]
    with redis.Redis.from_url(stand.url, socket_timeout=None) as other, other.monitor() as monitor:
        listener = threading.Thread(target=_listen, args=[monitor, own, seen])
        listener.start()
        stand.running.work()
        stand.bare.echo("over")
        listener.join()
    return seen[1] / seen[0]


def _listen(monitor: redis.client.Monitor, own: bytes, seen: list[int]) -> None:
    """Count commands, and those of one key, until somebody says that it is over."""
    for said in monitor.listen():  # type: ignore[no-untyped-call]
        words = said["command"].encode().split(b" ", 2)
        if words[0].lower() == b"echo":
            return
        if said["client_type"] != "lua":
            seen[0] += 1
            seen[1] += words[1:2] == [own]


def machine() -> str:
    """What it was measured on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def today() -> str:
    """The day, in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"
