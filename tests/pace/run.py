"""A run: a store, a server that counts, and worker processes that ask it as often as they may."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from model_server import ModelServer
from processes import inherited
from servers import Server

from pace.counting import Counted, count

_FOLDER = Path(__file__).parents[1]
_STARTS_S = 60


class Run(NamedTuple):
    """What is measured: a limit of calls a minute, for so many seconds, in windows of so many."""

    seconds: float
    per_minute: int = 60
    window: float = 60.0
    processes: int = 2
    threads: int = 32


def measure(run: Run) -> tuple[Counted, list[str]]:
    """Let the processes ask for the run's seconds, from the first call on; what the server counted, and what each of them saw."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as store, ModelServer() as model:
        begun = [_begin(run, store.url, model.url, folder) for _ in range(run.processes)]
        try:
            first = _first_call(model)
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
    command = [sys.executable, "-m", "pace.caller", str(run.seconds + 2), str(run.threads)]
    return subprocess.Popen(command, env=environ, cwd=folder, stdout=subprocess.PIPE, text=True)


def _first_call(model: ModelServer) -> float:
    end = time.monotonic() + _STARTS_S
    while not model.calls:
        if time.monotonic() > end:
            raise TimeoutError(f"no call came within {_STARTS_S} s; see what the processes wrote to stderr")
        time.sleep(0.01)
    return model.calls[0].started
