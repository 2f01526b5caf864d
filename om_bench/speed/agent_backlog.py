"""One agent's backlog: the cost of a look, a context and a chunk while many of its messages wait to be observed."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from statistics import median

import msgspec
import redis

from om_api import Message, ObservationalMemory
from om_api.cli.embedded import Embedded
from om_bench.harness.page import table
from om_bench.harness.pipeline import Pipeline, pipeline
from om_workers.work.observer import Observer
from om_workers.work.scope_worker import ScopeWorker

_SETTINGS = ("preset=small", "models.echo.provider=scripted", "observer_model=echo", "reflector_model=echo")
_RESOURCE = "backlogged"
_TOKENS = 24  # of a message: 33,500 of them make about 4,000 chunks of 200 tokens
_AT_ONCE = 500
_CONTEXTS = 5
_MS = 1_000


class AgentBacklog(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements while `messages` in `threads` wait. Times are processor time of the client or worker.

    `look_ms`: a worker's look with what it seals, before any chunk is observed; `chunk_ms`: all work of a worker for a chunk.
    `cold_ms` and `warm_ms`: a context for a client that never read the thread, and for one that did; `shown_kb` is its size.
    `hashes` and `commands`: HGETALLs and all commands that the server ran for a chunk. `a_minute`: chunks, by the clock.
    """

    messages: int
    threads: int
    look_ms: float
    cold_ms: float
    warm_ms: float
    shown_kb: float
    chunk_ms: float
    hashes: float
    commands: float
    a_minute: float


def measure(messages: Sequence[int], threads: Sequence[int], chunks: int) -> list[AgentBacklog]:
    """One row for each number of messages and of threads, each in a new store. About `chunks` chunks are observed in each."""
    return [_measured(each, n, chunks) for n in threads for each in messages]


def _measured(messages: int, threads: int, chunks: int) -> AgentBacklog:
    with (
        Embedded() as store,
        pipeline(store.url, _SETTINGS) as running,
        redis.Redis.from_url(store.url) as bare,
        closing(ObservationalMemory(running.om.settings)) as reader,
    ):
        for start in range(0, messages, _AT_ONCE):
            running.om.add_messages(
                Message(role="user", content=f"Step {n} of the plan is done. " * 3, tokens=_TOKENS,
                        resource_id=_RESOURCE, thread_id=f"t-{n % threads}")
                for n in range(start, min(start + _AT_ONCE, messages))
            )  # fmt: skip
        look = _spent(lambda: ScopeWorker(running.services).observe(_RESOURCE))
        cold = _spent(lambda: reader.get_context(resource_id=_RESOURCE, thread_id="t-1"))
        warm = median(
            _spent(lambda: reader.get_context(resource_id=_RESOURCE, thread_id="t-1")) for _ in range(_CONTEXTS)
        )
        shown = len(reader.get_context(resource_id=_RESOURCE, thread_id="t-1").text) / _MS
        before, began = _calls(bare), time.monotonic()
        work = _spent(lambda: _observe(running, chunks))
        took, after = time.monotonic() - began, _calls(bare)
        return AgentBacklog(
            messages=messages, threads=threads, look_ms=look, cold_ms=cold, warm_ms=warm, shown_kb=shown,
            chunk_ms=work / chunks, hashes=(after["hgetall"] - before["hgetall"]) / chunks,
            commands=(sum(after.values()) - sum(before.values())) / chunks, a_minute=60 * chunks / took,
        )  # fmt: skip


def _spent(work: Callable[[], object]) -> float:
    """The processor time (ms) of this process for a call."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * _MS


def _calls(bare: redis.Redis) -> dict[str, int]:
    return {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in bare.info("commandstats").items()}


def _observe(running: Pipeline, chunks: int) -> None:
    """Observe about `chunks` chunks, as a worker does."""
    worker, observer = ScopeWorker(running.services), Observer(running.services)
    looked = worker.observe(_RESOURCE, until=math.inf)
    done = 0
    while done < chunks and looked.chunks:
        done += len(looked.chunks)
        looked = observer.observe_chunks(_RESOURCE, *looked.chunks, until=math.inf, seen=looked.seen)


def as_lines(found: Sequence[AgentBacklog]) -> Iterator[str]:
    """The report in Markdown."""
    yield from table(
        ["messages in threads", "a look, ms", "context, cold, ms", "warm, ms", "shown, kB", "a chunk, ms",
         "HGETALLs a chunk", "commands a chunk", "chunks a minute"],
        (
            [f"{row.messages:,} in {row.threads:,}", f"{row.look_ms:,.0f}", f"{row.cold_ms:,.1f}", f"{row.warm_ms:,.1f}",
             f"{row.shown_kb:,.0f}", f"{row.chunk_ms:,.1f}", f"{row.hashes:,.0f}", f"{row.commands:,.0f}",
             f"{row.a_minute:,.0f}"]
            for row in found
        ),
    )  # fmt: skip
