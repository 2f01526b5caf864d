"""TCP ports that no other test takes, for servers that must know their port before they start."""

import atexit
import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import TextIO

# Below the range from which operating systems hand out ports themselves (from 32768 on Linux, 49152 elsewhere).
_PORTS = range(12_000, 32_000)
_held: list[TextIO] = []


@atexit.register
def _release() -> None:
    for lock in _held:
        lock.close()


def reserve_port() -> int:
    """Return a free port on 127.0.0.1 that every other process which calls this leaves alone until this one ends.

    The reservation is a lock on a file named after the port, so a server may be stopped and started again on it.
    """
    folder = Path(tempfile.gettempdir()) / f"om-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for port in random.sample(_PORTS, len(_PORTS)):
        lock = (folder / str(port)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.create_server(("127.0.0.1", port)):
                pass
        except OSError:
            lock.close()
            continue
        _held.append(lock)
        return port
    raise RuntimeError(f"no free port between {_PORTS.start} and {_PORTS.stop}")
