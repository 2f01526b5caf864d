"""A worker's side of its watchdog: sends heartbeats, and the unit of work of each thread.

Code in C that holds the GIL (a pattern that backtracks, a parser that hangs) stops every thread of a process, signal handlers
included. A separate process (watchdog_process.py) misses the heartbeats and ends the worker. Its supervisor (systemd, Docker,
`om up`) starts it again.
"""

import ctypes
import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog

from om_api.store.memory import due

FROZEN_S = due.LEASE_MS / 10_000  # well within a lease: no other worker takes the scope of a frozen one
_BEATS = 5  # heartbeats in these seconds
_log = structlog.get_logger("om_workers")


class Watchdog:
    """The watchdog of one process, shared by its threads. Does nothing before `begin`."""

    def __init__(self, frozen_s: float = FROZEN_S) -> None:
        self._frozen_s = frozen_s
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._units: dict[int, list[str]] = {}

    def begin(self) -> None:
        """Start the watchdog process and the heartbeats; a watchdog process that ends is started again."""
        faulthandler.enable()
        if os.getpid() == 1:
            _end_on_abort()
        threading.Thread(target=self._beat, name="om-watchdog", daemon=True).start()

    @contextmanager
    def at_work(self, task: str, *ids: str) -> Iterator[None]:
        """Report that this thread works on a unit of work while the block runs: ids only, no text of messages."""
        thread = threading.get_native_id()
        self._report(thread, [task, *ids])
        try:
            yield
        finally:
            self._report(thread, [])

    def units(self) -> list[list[str]]:
        """What threads of this process work on: of each its task and the ids."""
        with self._guard:
            return [unit for unit in self._units.values() if unit]

    def _report(self, thread: int, unit: list[str]) -> None:
        with self._guard:
            self._units[thread] = unit
            self._write(_line(thread, unit))

    def _write(self, line: bytes) -> None:
        if self._process and self._process.stdin:
            with suppress(BlockingIOError, BrokenPipeError):  # it is stopped, or has ended: `_beat` starts a new one
                os.write(self._process.stdin.fileno(), line)

    def _beat(self) -> None:
        while True:
            with self._guard:
                if self._process is None or self._process.poll() is not None:
                    self._start()
                self._write(b"\n")
            time.sleep(self._frozen_s / _BEATS)

    def _start(self) -> None:
        if self._process:
            _log.warning("watchdog_ended", code=self._process.returncode)
        command = [sys.executable, "-m", "om_workers.process.watchdog_process", str(os.getpid()), str(self._frozen_s)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)  # noqa: S603 -- fixed arguments
        except OSError as error:  # no process can be started now: the next heartbeat tries again
            _log.warning("watchdog_not_started", error=str(error)[:200])
            return
        if self._process.stdin:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._units = {thread: unit for thread, unit in self._units.items() if unit}
        self._write(b"".join(_line(thread, unit) for thread, unit in self._units.items()))


def _line(thread: int, unit: list[str]) -> bytes:
    return json.dumps([thread, unit]).encode() + b"\n"


def _end_on_abort() -> None:
    """Make SIGABRT end this process although it is process 1 of a container.

    The kernel delivers to process 1 only signals that it has a handler for, and no SIGKILL from within the container. A
    handler in Python waits for the GIL; `_exit` of the C library does not. faulthandler calls it after writing the stacks.
    """
    library = ctypes.CDLL(None)
    faulthandler.disable()
    library.signal(ctypes.c_int(signal.SIGABRT), ctypes.cast(library._exit, ctypes.c_void_p))  # noqa: SLF001 -- its name
    faulthandler.enable()
