"""The processes of a run: workers, beats and whatever else, ended and started again, each in a group of its own."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from chaos.plan import THREADS, WORKERS
from om_api.cli.embedded import end, launch

_CELERY = (sys.executable, "-m", "celery", "--quiet", "-A", "om_workers.app")
_WORKER = ("worker", "-P", "threads", "-c", str(THREADS), "--without-gossip", "--without-mingle", "-l", "INFO")
_BEAT = ("beat", "-l", "INFO")
_BEAT_STARTS_S = 2.0
_GROWN_S = 1.5  # of work, before a kill is worth its while
_READY_S = 240
_STOP_S = 15
_ENDS_S = 90  # being asked to: what it works on is finished first, for up to a minute
_SAYS = {"worker": b"ready.", "api": b"Uvicorn running on"}  # once it works; a beat says nothing


def celery(workers: int = WORKERS, beats: int = 2) -> dict[str, list[str]]:
    """The commands of workers and beats by the names of their processes."""
    working = {f"worker-{n}": [*_CELERY, *_WORKER, "-n", f"worker-{n}@chaos"] for n in range(workers)}
    return working | {f"beat-{n}": [*_CELERY, *_BEAT] for n in range(beats)}


class Running:
    """A process, its log, and since when it works: the death of one that still imports breaks nothing."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, start: int) -> None:
        self.process, self._log, self._start = process, log, start
        self._began = time.monotonic()
        self._works_since = 0.0

    def works(self) -> bool:
        """Whether it said that it is ready; a beat says nothing, it takes a while like a worker."""
        if not self._works_since:
            word = _SAYS.get(self._log.stem.partition("-")[0])
            with self._log.open("rb") as log:
                log.seek(self._start)
                if word in log.read() if word else time.monotonic() - self._began > _BEAT_STARTS_S:
                    self._works_since = time.monotonic()
        return bool(self._works_since)

    def is_grown(self) -> bool:
        """Whether it worked as long as it took to start, so that a slow machine gets something done between kills."""
        starts = max(_GROWN_S, self._works_since - self._began)
        return self.works() and time.monotonic() - self._works_since > starts


class Crew:
    """Processes by name, with their commands. What ends by itself, without a kill of ours, is noted in `deserted`."""

    def __init__(self, folder: Path, environ: Mapping[str, str], commands: Mapping[str, Sequence[str]]) -> None:
        self._folder, self._environ, self.commands = folder, environ, commands
        self.running: dict[str, Running] = {}
        self.deserted: list[str] = []

    def __enter__(self) -> Self:
        """Start all of them and wait until each works; none is left behind if that fails."""
        try:
            self.bring_back()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, name: str) -> None:
        # only ever from the main thread: a child is tied to the thread that made it
        path = self._folder / f"{name}.log"
        with path.open("ab") as log:
            start = log.tell()
            process = launch(self.commands[name], output=log, environ=self._environ, orphaned=signal.SIGKILL)
        self.running[name] = Running(process, path, start)

    def kill(self, kind: str, dice: random.Random) -> str:
        """SIGKILL a random worker or beat that has begun to work, start it again at once; its name, '' if none has."""
        able = [name for name, running in self.running.items() if name.startswith(kind) and running.is_grown()]
        if not able:
            return ""
        name = dice.choice(able)
        self.restart(name, signal.SIGKILL)
        return name

    def restart(self, name: str, how: signal.Signals) -> int:
        """End one by a signal and start it again at once; what it exited with. TimeoutExpired if it does not end."""
        process = self.running[name].process
        process.send_signal(how)
        code = process.wait(_ENDS_S)
        self._start(name)
        return code

    def strike(self, kind: str) -> None:
        """SIGKILL all workers, or beats, at once, and start them again, without waiting until they work."""
        for name in self.lose(kind):
            self._start(name)

    def lose(self, kind: str) -> list[str]:
        """SIGKILL all workers, or beats; none of them is there until `bring_back`. Their names."""
        lost = {name: self.running.pop(name).process for name in list(self.running) if name.startswith(kind)}
        for process in lost.values():
            process.kill()
        for process in lost.values():
            process.wait(_ENDS_S)
        return list(lost)

    def bring_back(self) -> None:
        """Start who is not there, and wait until all work."""
        for name in self.commands:
            if name not in self.running:
                self._start(name)
        until = time.monotonic() + _READY_S
        while not all(running.works() for running in self.running.values()):
            if time.monotonic() > until:
                raise RuntimeError(f"not all processes started; their logs: {self._folder}")
            time.sleep(0.1)

    def tend(self) -> None:
        """Start again what ended by itself, and note that it did."""
        for name, running in list(self.running.items()):
            running.works()
            if running.process.poll() is not None:
                self.deserted.append(f"{name} ended by itself with {running.process.returncode}")
                self._start(name)

    def stop(self) -> None:
        """End all of them, by force if they take too long."""
        for running in self.running.values():
            running.process.terminate()
        until = time.monotonic() + _STOP_S
        for running in self.running.values():
            end(running.process, max(0.1, until - time.monotonic()))
        self.running.clear()
