"""What is measured of processes and of the machine from outside, and how a measurement waits for what others do."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from om_api.domain.errors import StoreError

_PATIENCE_S = 120.0


def cpu_s(pid: int | None) -> float:
    """Seconds of processor time that a process took so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def idle_s() -> float:
    """Seconds for which the cores of the machine had nothing to do so far, all together."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


def resident(pid: int | None) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait(met: Callable[[], bool], what: str, poll_s: float = 0.02, patience_s: float = _PATIENCE_S) -> None:
    """Return when it is met; StoreError, which says `what` did not come, after so many seconds."""
    end = time.monotonic() + patience_s
    while not met():
        if time.monotonic() > end:
            raise StoreError(f"{what} did not come within {patience_s:.0f} s: let nothing else run on the machine")
        time.sleep(poll_s)
