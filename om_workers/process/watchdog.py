"""A worker's side of its watchdog: signs of life, and which units of work its threads are at.

Code in C that holds the GIL (a pattern that backtracks, a parser that hangs) stops every thread of a process, signal handlers
included. A process outside (watchdog_process.py) sees that no sign of life comes, and ends the worker; whoever supervises
it (systemd, Docker, `om up`) starts it again.
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

FROZEN_S = due.LEASE_MS / 6_000  # well within a lease: no other worker takes up what a frozen one holds
_BEATS = 5  # signs of life in these seconds
_log = structlog.get_logger("om_workers")


class Watchdog:
    """One process's watchdog; its threads may share it. Does nothing before `begin`."""

    def __init__(self, frozen_s: float = FROZEN_S) -> None:
        self._frozen_s = frozen_s
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._units: dict[int, list[str]] = {}

    def begin(self) -> None:
        """Start the watchdog of this process, and give signs of life from now on; a watchdog that ends is started again."""
        faulthandler.enable()
        if os.getpid() == 1:
            _end_on_abort()
        threading.Thread(target=self._beat, name="om-watchdog", daemon=True).start()

    @contextmanager
    def at_work(self, task: str, *ids: str) -> Iterator[None]:
        """Say that this thread works at a unit of work while the block runs; of ids alone, never of what a message says."""
        thread = threading.get_native_id()
        self._say(thread, [task, *ids])
        try:
            yield
        finally:
            self._say(thread, [])

    def _say(self, thread: int, unit: list[str]) -> None:
        with self._guard:
            self._units[thread] = unit
            self._write(_line(thread, unit))

    def _write(self, line: bytes) -> None:
        if self._process and self._process.stdin:
            with suppress(BlockingIOError, BrokenPipeError):  # it is stopped, or gone: `_beat` starts another one
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
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)  # noqa: S603 -- our own words
        except OSError as error:  # no process may be made now: the next beat tries again
            _log.warning("watchdog_not_started", error=str(error)[:200])
            return
        if self._process.stdin:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._units = {thread: unit for thread, unit in self._units.items() if unit}
        self._write(b"".join(_line(thread, unit) for thread, unit in self._units.items()))


def _line(thread: int, unit: list[str]) -> bytes:
    return json.dumps([thread, unit]).encode() + b"\n"


def _end_on_abort() -> None:
    """Have SIGABRT end this process though it is the first one of a container.

    The kernel delivers no signal to such a process that it has no handler for, not even SIGKILL from within the container. A
    handler in Python waits for the GIL; `_exit` of the C library does not. faulthandler calls it once it has written the stacks.
    """
    library = ctypes.CDLL(None)
    faulthandler.disable()
    library.signal(ctypes.c_int(signal.SIGABRT), ctypes.cast(library._exit, ctypes.c_void_p))  # noqa: SLF001 -- its name
    faulthandler.enable()
