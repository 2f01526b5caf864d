"""What `om up` and `om demo` keep running: processes of ours, started again when they die."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from om_api.cli.embedded import Embedded, Process, end, launch
from om_api.domain.errors import OMError
from om_api.domain.extras import require

WORKER = ("worker", "--without-gossip", "--without-mingle")  # ours have nothing to tell each other but events
BEAT = ("beat",)
FLOWER = ("flower",)
API = ("api",)
FLOWER_COLUMNS = "name,args,result,state,received,runtime"
_LONGEST_PAUSE_S = 30.0
_RUNNING_S = 5.0  # a child that ran for so long had started: its watchdog may have ended it
PACKAGES = (
    "celery",
    "genai_prices",
    "httpx2",
    "kombu",
    "limits",
)  # without which no child works; `flower` needs itself


_COMMANDS = {"api": ("-c", "from om_api.cli import main; main()")}  # the others are Celery's
_CELERY = ("-m", "celery", "--quiet", "-A", "om_workers.app")


class Child(Process):
    """A process of ours: `worker`, `beat`, `flower` or `api`; every line it writes goes to `show` with its name.

    Raises MissingExtraError where the package is not installed.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], show: Callable[[str, str], None]) -> None:
        self.name = words[0]
        if self.name not in _COMMANDS:
            require("workers", *PACKAGES, *(FLOWER if self.name in FLOWER else ()))
        self._command = [sys.executable, *_COMMANDS.get(self.name, _CELERY), *words]
        self._environ = {**environ, "PYTHONUNBUFFERED": "1"}
        self._show = show
        self._reader: threading.Thread | None = None

    def start(self) -> None:
        """Start the process, or the next one after it ended."""
        self.stop(0)
        # An orphan would wait for ever for the store that ended with us; what it was doing is done again after its lease.
        self._process = launch(self._command, output=subprocess.PIPE, environ=self._environ, orphaned=signal.SIGKILL)
        self._reader = threading.Thread(target=self._read, args=[self._process], daemon=True)
        self._reader.start()

    def ask_to_end(self) -> None:
        """Let it finish what it is doing and end."""
        if self._process is not None:
            self._process.terminate()

    def stop(self, seconds: float) -> None:
        """End it, by force after `seconds`, and show what it said last."""
        if self._process is not None and self._reader is not None:
            end(self._process, seconds)
            self._reader.join(1)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        with process:
            for line in process.stdout or ():
                self._show(self.name, line.decode(errors="replace").rstrip())


class Keeper:
    """Starts again what has died: after 1, 2, 4 … 30 s, and after 1 s anew when it had run for 5 s."""

    def __init__(self, child: Child | Embedded, tell: Callable[[str], None]) -> None:
        self._child = child
        self._tell = tell
        self._pause = 0.0
        self._began = 0.0
        self._due: float | None = None

    def tend(self, now: float) -> None:
        """Look once; `now` in seconds of any steady clock."""
        if self._child.alive:
            return
        if self._due is None:
            held = now - self._began >= _RUNNING_S
            self._pause = 1.0 if held else min(_LONGEST_PAUSE_S, self._pause * 2 or 1.0)
            self._due = now + self._pause
            self._tell(f"{self._child.name} has ended: starting it again in {self._pause:g} s")
        elif now >= self._due:
            self._start(now)

    def _start(self, now: float) -> None:
        self._due, self._began = None, now
        try:
            self._child.start()
        except OMError as error:
            self._tell(f"{self._child.name} does not start: {error}")


class StopRequests:
    """How often we were asked to stop: once is gently, twice is now."""

    def __init__(self) -> None:
        self.times = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count SIGINT and SIGTERM instead of obeying them at once; what our shell has us ignore stays ignored."""
        heard = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self._count) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _count(self, *_: object) -> None:
        self.times += 1
