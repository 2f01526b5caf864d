"""What a worker costs by itself, and how many calls it keeps in flight: real Celery processes, looked at from outside."""

import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import redis

from om_api import Message, ObservationalMemory, load_settings
from om_api.cli.children import BEAT, WORKER, Child
from om_api.cli.embedded import Embedded
from om_api.store.memory.keys import Keys
from om_bench.harness.processes import cpu_s, wait
from om_bench.speed.stand import Figure, Stand
from om_bench.speed.thinking import NOTES, Thinking

PREFIX = "om-bench"
_WORDS = [
    "agree",
    "answer",
    "build",
    "change",
    "deadline",
    "design",
    "figure",
    "harbour",
    "invoice",
    "letter",
    "meeting",
]
_MESSAGES, _TOKENS = 60, 100  # of a push: a chunk of 6,000 tokens, in messages of about 400 bytes
_AGENTS, _PUSHES = 50, 5  # five chunks of 6,000 tokens: the last push brings an activation, as everywhere
_IDLE_S = 5.0
_BURST, _THREADS, _LONG_S = 500, 450, 8
_REACH_MS, _REACH_CALLS = 10, 400


def worker_cpu(_stand: Stand) -> Iterator[Figure]:
    """Processor time of a worker for each observation of 6,000 tokens, all its tasks included, less what it takes idle.

    The model answers at once, within the worker; beside it stands the same with a provider that is asked over HTTP.
    """
    own = spent({"provider": "scripted", "options": {"answer": NOTES}})
    with Thinking() as model:
        asking = spent({"provider": "openai", "base_url": model.url})
    yield Figure(
        work="worker's own processor time for an observation of 6,000 tokens",
        ours=f"{own:.1f} ms", reference=f"{asking:.1f} ms with a provider's client", value=own, reach=_REACH_MS, unit="ms",
    )  # fmt: skip


def calls_in_flight(_stand: Stand) -> Iterator[Figure]:
    """Calls of a model in flight at once out of one worker that finds a backlog and commits meanwhile, as the model counts.

    Of one that takes a second, and of one that takes as long as models that read 6,000 tokens do.
    """
    agents = _agents(_BURST)
    for seconds in (1, _LONG_S):
        with (
            Thinking(seconds) as model,
            _working({"provider": "openai", "base_url": model.url}, _THREADS, agents) as at,
        ):
            at.wait(len(agents))
            most = model.most
        yield Figure(
            work=f"calls in flight out of one worker process with {_THREADS} threads, a model that takes {seconds} s",
            ours=f"{most} calls", reference="", value=most, reach=_REACH_CALLS, unit="calls", at_least=True,
        )  # fmt: skip


def spent(model: Mapping[str, object], **memory: object) -> float:
    """Milliseconds of a worker's processor time for each observation, with further settings of the memory."""
    agents = _agents(_AGENTS)
    with _working(model, None, (), **memory) as at:
        at.observe(agents)  # what is loaded once, and what a memory costs when it begins, is not of an observation
        before, began = at.cpu(), time.monotonic()
        for _ in range(_PUSHES - 1):
            at.observe(agents)
        spent, took = at.cpu() - before, time.monotonic() - began
        before = at.cpu()
        time.sleep(_IDLE_S)
        idle = (at.cpu() - before) / _IDLE_S
    return 1_000 * (spent - idle * took) / (_AGENTS * (_PUSHES - 1))


class _Working(NamedTuple):
    om: ObservationalMemory
    bare: redis.Redis
    worker: Child

    def observe(self, agents: Sequence[str]) -> None:
        """Have a chunk of each agent observed, and return when all of that is done."""
        before = self._observed()
        for name in agents:
            self.om.add_messages(said(name))
        self.wait(before + len(agents))

    def wait(self, count: int) -> None:
        """Return when so many observations were made since the store began."""
        wait(lambda: self._observed() >= count, f"{count} observations")

    def cpu(self) -> float:
        """Seconds of processor time that the worker process took so far."""
        return cpu_s(self.worker.pid)

    def _observed(self) -> int:
        return int(self.bare.hget(Keys(PREFIX).counted, "observations") or 0)


def _agents(count: int) -> list[str]:
    return [f"agent-{number}" for number in range(count)]


def said(resource: str) -> list[Message]:
    """A chunk's worth of messages of an agent."""
    return [
        Message(role="user", content=_text(), tokens=_TOKENS, thread_id="t-1", resource_id=resource)
        for _ in range(_MESSAGES)
    ]


def _text() -> str:
    """Some 400 bytes that were never said before: nobody can remember how many tokens they are."""
    return " ".join([f"{random.randrange(1_000_000)}", *random.choices(_WORDS, k=58)])


@contextmanager
def _working(
    model: Mapping[str, object], threads: int | None, backlog: Sequence[str] = (), **memory: object
) -> Iterator[_Working]:
    """A store, a beat and a worker of so many threads (None: as many as by default), each a process.

    Of each agent of the `backlog` a chunk waits for them before they start.
    """
    with ExitStack() as held:
        store = held.enter_context(Embedded())
        ours = configured(held, model, store, observer_interval="1s", **memory)
        om = held.enter_context(ObservationalMemory(load_settings(environ=ours)))
        for name in backlog:
            om.add_messages(said(name))
        worker = start(held, [*WORKER, *(["-c", str(threads)] if threads else [])], ours)
        start(held, BEAT, ours)
        yield _Working(om, held.enter_context(redis.Redis.from_url(store.url)), worker)


def configured(held: ExitStack, model: Mapping[str, object], store: Embedded, **memory: object) -> dict[str, str]:
    """Settings by which processes use a store and one model, until `held` is closed."""
    folder = Path(held.enter_context(TemporaryDirectory(prefix="om-bench-")))
    named = {"observer_model": "thinking", "reflector_model": "thinking", **memory}
    stated = {"observational_memory": named, "models": {"thinking": model}}
    (folder / "observational-memory.yaml").write_bytes(msgspec.json.encode(stated))
    return {"OM_REDIS_URL": store.url, "OM_PREFIX": PREFIX, "OM_CONFIG_DIR": str(folder)}


def start(held: ExitStack, words: Sequence[str], ours: Mapping[str, str]) -> Child:
    """Have a Celery process run with these settings of ours until `held` is closed."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    child = Child(words, {**environ, **ours}, lambda _name, _line: None)
    held.callback(child.stop, 0)
    child.start()
    return child
