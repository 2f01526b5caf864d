"""`make limits MINUTES=3`: two workers with 32 threads each under one limit of 60 calls a minute; fails outside 54 to 60."""

import argparse
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from model_server import ModelServer
from processes import inherited
from servers import Server

_MOMENT = 1e-6
_LEAST = 0.9  # of the limit: what is allowed shall be used


class Counted(NamedTuple):
    """Calls in all, and the fewest and most in any window that lies within the run."""

    calls: int
    fewest: int
    most: int


def count(arrivals: Sequence[float], window: float, end: float) -> Counted:
    """Count every window [t, t + window) from the first arrival up to `end`, wherever it begins.

    The count changes only where a call leaves the window or enters it: a window that begins with a call holds the most, one that
    begins right behind a call, or ends right before one, the fewest.
    """
    times = sorted(arrivals)
    if not times or times[0] + window > end:
        return Counted(len(times), len(times), len(times))
    starts = sorted({times[0], end - window, *times, *(at - window for at in times)})
    inside = [at for at in starts if times[0] <= at <= end - window]
    begins = inside + [at + _MOMENT for at in inside if at + _MOMENT <= end - window]
    counts = [bisect_left(times, at + window) - bisect_left(times, at) for at in begins]
    return Counted(len(times), min(counts), max(counts))


_FOLDER = Path(__file__).parents[1]
_STARTS_S = 60
_PROCESSES, _THREADS = 2, 32


class Run(NamedTuple):
    """What is measured: a limit of calls a minute, for so many seconds, in windows of so many."""

    seconds: float
    per_minute: int = 60
    window: float = 60.0


def measure(run: Run) -> tuple[Counted, list[str]]:
    """Let the processes ask for the run's seconds, from the first call on; what the server counted, and what each of them saw."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as store, ModelServer() as model:
        begun = [_begin(run, store.url, model.url, folder) for _ in range(_PROCESSES)]
        try:
            end = time.monotonic() + _STARTS_S
            while not model.calls:
                if time.monotonic() > end:
                    raise TimeoutError(f"no call came within {_STARTS_S} s; see what the processes wrote to stderr")
                time.sleep(0.01)
            first = model.calls[0].started
            saw = [process.communicate(timeout=run.seconds + _STARTS_S)[0].strip() for process in begun]
        finally:
            for process in begun:
                process.kill()
                process.wait()
        return count([call.started for call in model.calls], run.window, first + run.seconds), saw


def _begin(run: Run, store: str, model: str, folder: str) -> subprocess.Popen[str]:
    environ = {
        **inherited(),
        "PYTHONPATH": str(_FOLDER),
        "OM_REDIS_URL": store,
        "OM_PREFIX": "limits:om",
        "OM_MODELS__COUNTED__BASE_URL": model,
        "OM_MODELS__COUNTED__LIMITS": f"{{requests_per_minute: {run.per_minute}}}",
    }
    command = [sys.executable, "-m", "pace.caller", str(run.seconds + 2), str(_THREADS)]
    return subprocess.Popen(command, env=environ, cwd=folder, stdout=subprocess.PIPE, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make limits", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    run = Run(parser.parse_args().minutes * 60)
    counted, saw = measure(run)
    well = _LEAST * run.per_minute <= counted.fewest and counted.most <= run.per_minute
    shown = f"in any window of 60 s: {counted.fewest} to {counted.most} (limit {run.per_minute})"
    print(f"calls: {counted.calls}; {shown}", *saw, "passed" if well else "FAILED", sep="\n")  # noqa: T201
    return not well


if __name__ == "__main__":
    sys.exit(main())
