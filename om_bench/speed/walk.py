"""The walk: what a push, a warm context, a sync, a chunk and a reflection go through, counted on one seeded run."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from om_api import Message, ObservationalMemory
from om_bench.harness.page import table
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.speed.thinking import Thinking

_OURS = tuple(f"{Path(__file__).parents[2] / package}/" for package in ("om_api", "om_workers"))
_SENDS = {"sendall", "send"}
_THINKS_S = 0.3
_HISTORY = 400  # messages, of which two are new


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """What one piece of work went through: calls of functions of ours, the files they are in, how deep they stood.

    `trips` are round trips to the store, `waiting` the threads that waited while a model was being asked.
    """

    work: str
    calls: int
    files: int
    depth: int
    trips: int
    waiting: int


class _Counter:
    """Counts while it is the profiler of every thread that begins; only what has to do with us."""

    def __init__(self) -> None:
        self.calls, self.trips, self.deepest = 0, 0, 0
        self.files: set[str] = set()
        self._depth = threading.local()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_code.co_filename
        if event == "c_call" and getattr(arg, "__name__", "") in _SENDS and "redis" in name:
            self.trips += 1
        if not name.startswith(_OURS):
            return
        depth = getattr(self._depth, "now", 0)
        if event == "call":
            self.calls += 1
            self.files.add(name)
            self.deepest = max(self.deepest, depth + 1)
        self._depth.now = depth + {"call": 1, "return": -1}.get(event, 0)


@contextmanager
def _counted() -> Iterator[_Counter]:
    counter = _Counter()
    threading.setprofile(counter)
    sys.setprofile(counter)
    try:
        yield counter
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextmanager
def _watched() -> Iterator[list[int]]:
    """How many threads of this process there are, looked at while the model thinks."""
    seen, over = [threading.active_count()], threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            seen.append(threading.active_count() - 1)

    watcher = threading.Thread(target=look, name="watcher")
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _walk(work: str, do: Callable[[], object]) -> Walk:
    with _watched() as threads, _counted() as counter:
        do()
    return Walk(
        work=work,
        calls=counter.calls,
        files=len(counter.files),
        depth=counter.deepest,
        trips=counter.trips,
        waiting=max(threads) - threads[0],
    )


def _said(n: int) -> Message:
    return Message(
        role="user", content=f"What part {n} of the plan needs, and by when", thread_id="t", resource_id="r", tokens=500
    )


def measure(url: str | None) -> list[Walk]:
    """Every walk, each of them warm: the same was done once before."""
    with Thinking(_THINKS_S) as model:
        provider = ("models.thinking.provider=openai", f"models.thinking.base_url={model.url}")
        models = ("observer_model=thinking", "reflector_model=thinking", *provider)
        with pipeline(url, (*models, "message_threshold=100000", "buffer_tokens=2000")) as running:
            return _walks(running, model)


def _walks(running: Pipeline, model: Thinking) -> list[Walk]:
    om = running.om

    def read() -> object:
        return running.om.get_context("t", "r").as_openai()

    def until_asked() -> None:
        before = model.answered
        while model.answered == before:
            running.tick()

    om.add_messages(map(_said, range(40)))
    running.end_session("t", "r")
    read()
    om.force_reflect("r")
    running.work()
    read()
    found = [_walk("push", lambda: om.add_message(_said(40)))]
    read()
    om.add_message(_said(41))
    found.append(_walk("warm context", read))
    found += _synced(running)
    running.end_session("t", "r")
    om.add_messages(map(_said, range(42, 46)))
    found.append(_walk("chunk: a tick, the seal, the call, the buffer, the end of the task", until_asked))
    running.end_session("t", "r")
    om.force_reflect("r")
    found.append(_walk("reflection: a tick, the call, the commit, the end of the task", until_asked))
    return found


def _synced(running: Pipeline) -> list[Walk]:
    """A whole history, sent by the client that sent it before, and by one that never saw it."""
    history = [Message(role="user", content=f"What part {n} of the plan needs") for n in range(_HISTORY)]
    with ObservationalMemory(running.om.settings) as other:
        for thread, om in (("warm", running.om), ("cold", other)):
            om.sync(history[:-2], "synced", thread)
    work = f"sync of {_HISTORY} messages, 2 of them new"
    found = [
        _walk(work, lambda: running.om.sync(history, "synced", "warm")),
        _walk(f"{work}, by a client that never saw it", lambda: running.om.sync(history, "synced", "cold")),
    ]
    running.om.clear("synced")
    return found


def as_lines(walks: list[Walk]) -> list[str]:
    """The walks as a table of a Markdown page."""
    head = ["what", "calls of ours", "files", "depth", "round trips", "threads beside"]
    _, *lines = table(head, [[w.work, f"{w.calls:,}", w.files, w.depth, w.trips, w.waiting] for w in walks])
    return lines
