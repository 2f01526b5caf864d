"""What tracing costs a worker: what spans add to an observation, beside what a worker takes for one."""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from om_api import load_settings
from om_api.cli.embedded import Embedded
from om_api.telemetry import opening, spans
from om_bench.harness.pipeline import Pipeline
from om_bench.speed.stand import Figure, Stand
from om_bench.speed.thinking import NOTES, Thinking
from om_bench.speed.working import configured, said, spent
from om_workers.work.observer import Observer
from om_workers.work.scope_worker import ScopeWorker

_REACH = 3
_AGENTS = 150
_MODEL = {"provider": "scripted", "options": {"answer": NOTES}}


def tracing(_stand: Stand) -> Iterator[Figure]:
    """Percent of a worker's processor time for an observation of 6,000 tokens that spans take, their sending included.

    What they add is measured within one process, observation by observation in turns with and without them: beside two
    workers, what else the machine does would be many times as much. Whatever takes the spans is counted with it.
    """
    more, worker_ms = 1_000 * _added_s(), spent(_MODEL)
    yield Figure(
        work="what tracing takes of a worker's own processor time for an observation of 6,000 tokens",
        ours=f"{more:.2f} ms", reference=f"{worker_ms:.2f} ms", value=100 * more / worker_ms, reach=_REACH, unit="%",
    )  # fmt: skip


def _added_s() -> float:
    with Thinking() as collector, ExitStack() as held:
        settings = load_settings(environ=configured(held, _MODEL, held.enter_context(Embedded())))
        running, plain, told = held.enter_context(Pipeline(settings)), list[float](), list[float]()
        opening.begin(load_settings(None, {"OM_TELEMETRY__ENDPOINT": collector.url}), "om-bench")
        elsewhere = time.process_time() - time.thread_time()
        for number in range(_AGENTS):
            with spans.paused():
                plain.append(_observed(running, f"plain-{number}"))
            told.append(_observed(running, f"told-{number}"))
        opening.end()
        sending = time.process_time() - time.thread_time() - elsewhere
    return median(told) - median(plain) + sending / _AGENTS


def _observed(running: Pipeline, resource: str) -> float:
    """Seconds of this thread's processor time for a look at an agent, and the observation that it finds due."""
    running.om.add_messages(said(resource))
    began = time.thread_time()
    with spans.span("om.observe", "consumer", resource=resource) as span:
        looked = ScopeWorker(running.services).observe(resource, until=math.inf)
        came = Observer(running.services).observe_chunks(resource, *looked.chunks)
        span.note(outcome=came.outcome)
    return time.thread_time() - began
