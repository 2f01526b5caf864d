"""The archive: what a past takes of RAM with and without one, how fast it moves there, how fast it is looked up there."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from om_api import ObservationalMemory, load_settings
from om_api.settings import Settings
from om_api.store.archiving import archivable
from om_bench.harness.pipeline import KeptTasks, environment
from om_bench.speed.recalling import LongMemory
from om_bench.speed.stand import Figure, Stand, timed
from om_workers.tasks import wiring
from om_workers.work.archiver import Archiver

_AGENT, _LONG = 1_000, 100_000  # messages
_AGENTS = 20  # whose chunks move together with those of the others
_QUESTIONS, _CLIENTS = 60, 5
_WARMED = 10
_URL = "OM_ARCHIVE__URL"


def archive(stand: Stand) -> Iterator[Figure]:
    """In a file of SQLite's, or in the Postgres of OM_ARCHIVE__URL: what is in that is removed for the agents measured."""
    with _settings(stand) as settings:
        small = [LongMemory(stand, f"archive-{n:02}", _AGENT) for n in range(_AGENTS)]
        before = _taken(stand, small)
        _moved(settings, [each.resource for each in small])
        after = _taken(stand, small)
        yield _figure(f"RAM of an agent of {_AGENT:,} messages, without", before / 1_024, None, "KiB")
        yield _figure("the same once its past is archived", after / 1_024, None, "KiB")
        long = LongMemory(stand, "archive-long", _LONG)
        chunks, seconds = _moved(settings, [long.resource])
        rate = chunks / seconds
        yield Figure(
            work="chunks archived in a second",
            ours=f"{rate:,.0f}",
            reference="-",
            value=rate,
            reach=1_000,
            unit="/s",
            at_least=True,
        )
        yield from _recalled(settings, long)


@contextmanager
def _settings(stand: Stand) -> Iterator[Settings]:
    with TemporaryDirectory() as folder:
        url = os.environ.get(_URL) or f"sqlite:///{Path(folder) / 'archive.db'}"
        (empty := Path(folder) / "config").mkdir()
        yield load_settings(
            None,
            {**environment(stand.url, str(empty)), _URL: url, "OM_ARCHIVE__AFTER": "0s", "OM_RECALL__AUTO": "false"},
        )


def _taken(stand: Stand, agents: Sequence[LongMemory]) -> float:
    """Bytes of an agent's keys."""
    return sum(stand.used(f"om-bench:{{{each.resource}}}:*") for each in agents) / len(agents)


def _moved(settings: Settings, resources: Sequence[str]) -> tuple[int, float]:
    """How many things moved to the archive, and in how many seconds: written, read back and dropped."""
    services = wiring.build(settings, KeptTasks())
    services.run(archivable.expect(services.keys, resources, 0))
    archiver, moved = Archiver(services), 0
    archiver.round(0)  # lays the archive out
    begun = time.perf_counter()
    while done := archiver.round(60).archived:
        moved += done
    seconds = time.perf_counter() - begun
    services.connection.close()
    return moved, seconds


def _recalled(settings: Settings, memory: LongMemory) -> Iterator[Figure]:
    """Questions of eight words about a past of which nothing but the raw messages is left in Redis."""
    first, warm = list[float](), list[float]()
    for n in range(_CLIENTS):
        with ObservationalMemory(settings, tally=False) as om:
            om.ping()
            for _ in range(1 if n else _QUESTIONS):
                took = timed(partial(om.recall, memory.language.question(), memory.resource))
                (warm if len(first) > n else first).append(took)
    ms = [1_000 * each for each in warm]
    yield _figure(f"recall over {_LONG:,} archived messages, a client's first, p50", 1_000 * median(first), None, "ms")
    yield _figure(f"its 2nd to {_WARMED}th question, p50", median(ms[: _WARMED - 1]), None, "ms")
    yield _figure(f"recall over {_LONG:,} archived messages, p50", median(ms[_WARMED - 1 :]), 60, "ms")


def _figure(work: str, value: float, reach: float | None, unit: str) -> Figure:
    return Figure(work=work, ours=f"{value:,.1f} {unit}", reference="-", value=value, reach=reach, unit=unit)
