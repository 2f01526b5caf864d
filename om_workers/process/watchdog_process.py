"""Ends a worker whose GIL is held: `python -m om_workers.process.watchdog_process PID SECONDS`.

The worker writes to stdin: an empty line as a heartbeat, and a line of JSON when a thread begins or ends a unit of work. A
worker that writes nothing for SECONDS while one of its threads uses the CPU is reported (crash_report.py) and ended. The
process ends when its worker ends and stdin is closed.

CPU time is counted for each thread: the thread that holds the GIL uses all of it. Many threads that share the GIL, or a
machine that has no CPU for them, delay heartbeats too, but then no thread uses much.

It imports the standard library only, because each worker has such a process and its memory counts.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

_LOOKS = 10  # in the seconds after which a silent worker is frozen
_BUSY = 0.5  # CPU seconds a second of one thread: less is a worker that waits, is swapped out, or has no CPU to run on
_ANY = float("inf")  # the usage of a thread that cannot be measured
_WAITING = 20  # times these seconds: the GIL is held by code that waits for ever
_UNMEASURED = 4  # the same where the system has no /proc
_REPORT_S = 10.0  # starting it takes 0.8 s of CPU, and on a busy machine several times as long
_DUMP_S = 2.0  # for the stacks of all threads to be written
_READ = 1 << 16


class CpuUsage(NamedTuple):
    """CPU seconds that each thread of a process used so far, and whether the process is stopped (SIGSTOP, a debugger)."""

    threads: Mapping[int, float]
    stopped: bool = False

    @classmethod
    def of(cls, pid: int) -> "CpuUsage | None":
        """The usage of a process; None if it has ended, or where there is no /proc."""
        threads, stopped = dict[int, float](), False
        with suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with suppress(OSError, ValueError):  # the thread has ended
                    state, *fields = (thread / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                    threads[int(thread.name)] = (int(fields[10]) + int(fields[11])) / os.sysconf("SC_CLK_TCK")
                    stopped = stopped or state in {"T", "t"}
        return cls(threads, stopped) if threads else None

    def since(self, before: "CpuUsage") -> Mapping[int, float]:
        """The CPU seconds that each thread used since `before`."""
        return {thread: cpu_s - before.threads.get(thread, cpu_s) for thread, cpu_s in self.threads.items()}


class Silence:
    """How many looks in a row saw no heartbeat, and the CPU that each thread used meanwhile.

    Looks are counted instead of seconds, so that a machine that sleeps, or a paused pair of processes, adds none.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._looks = 0
        self._first: CpuUsage | None = None
        self.used: Mapping[int, float] = {}

    @property
    def seconds(self) -> float:
        """The time that these looks took."""
        return self._looks * self._limit / _LOOKS

    def reset(self) -> None:
        """Start over after a heartbeat."""
        self._looks, self._first, self.used = 0, None, {}

    def count(self, usage: CpuUsage | None) -> bool:
        """Count a look without a heartbeat; whether the worker is frozen. `usage` is None where it cannot be read."""
        if usage and (usage.stopped or self._first is None):
            self._looks, self._first = 0, usage
        self._looks += 1
        if usage is None or self._first is None:
            return self._looks >= _UNMEASURED * _LOOKS
        self.used = usage.since(self._first)
        busy = max(self.used.values()) >= _BUSY * self._limit
        return self._looks >= (_LOOKS if busy else _WAITING * _LOOKS)


class Watch:
    """One worker, and the units of work of its threads."""

    def __init__(self, pid: int, limit: float) -> None:
        self._pid, self._limit = pid, limit
        self._silence = Silence(limit)
        self._units: dict[int, Sequence[str]] = {}
        self._rest = b""

    def until_frozen(self) -> bool:
        """Watch; True when the worker is frozen, False when it has ended."""
        while True:
            if select.select([0], [], [], self._limit / _LOOKS)[0]:
                data = os.read(0, _READ)
                if not data:
                    return False
                self._silence.reset()
                self._parse(data)
            elif self._silence.count(CpuUsage.of(self._pid)):
                return True

    def _parse(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            with suppress(ValueError):  # a line that a full pipe cut off
                thread, unit = json.loads(line)
                self._units[thread] = unit
        self._units = {thread: unit for thread, unit in self._units.items() if unit}

    def suspects(self) -> list[Sequence[str]]:
        """The units of work whose threads used the CPU during the silence; all where that cannot be measured.

        A thread that waits for a model uses none, so its unit of work is not to blame.
        """
        used = self._silence.used
        return [unit for thread, unit in self._units.items() if used.get(thread, _ANY) >= _BUSY * self._limit / 2]

    def end(self) -> None:
        """Report, then end the worker. On SIGABRT it writes the stacks of its threads (faulthandler)."""
        report = {"id": uuid4().hex, "pid": self._pid, "seconds": self._silence.seconds, "units": self.suspects()}
        command = [sys.executable, "-m", "om_workers.process.crash_report"]
        with suppress(subprocess.TimeoutExpired):  # the store is away: the worker is ended all the same
            subprocess.run(command, input=json.dumps(report).encode(), timeout=_REPORT_S, check=False)  # noqa: S603 -- fixed arguments
        for number in (signal.SIGABRT, signal.SIGKILL):
            if os.getppid() == self._pid:  # else it has ended
                os.kill(self._pid, number)
                self._wait(_DUMP_S)

    def _wait(self, seconds: float) -> None:
        """Return when the worker has ended, after `seconds` at the latest."""
        while select.select([0], [], [], seconds)[0] and os.read(0, _READ):
            pass


def main(pid: int, limit: float) -> None:
    """Watch a worker until it ends, or end it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # sent to the process group: they are for the worker
    watch = Watch(pid, limit)
    if watch.until_frozen():
        watch.end()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
