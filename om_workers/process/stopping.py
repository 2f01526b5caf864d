"""How a worker process ends its calls of models: no new one begins, those in flight may end within a grace, then they are left.

A thread that waits for a model cannot be stopped. But the call it waits for can be cancelled: the work then ends as after any
error, gives back what it holds, and the process has nothing left to wait for.
"""

import threading
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from om_api.domain.errors import OMError

T = TypeVar("T")


class StoppedError(OMError):
    """The process stops, so that a call was not made, or its answer is not waited for: nothing failed, another worker goes on."""

    def __init__(self) -> None:
        super().__init__("this worker stops: another one, or this one when it is started again, goes on with the work")


class Stopping:
    """One process' way to its end. Threads and signal handlers may share it."""

    def __init__(self) -> None:
        self._guard = threading.RLock()  # a signal handler may come in the middle of any of these
        self._asked = threading.Event()
        self._in_flight: set[Future[Any]] = set()

    @property
    def asked(self) -> bool:
        """Whether the process was asked to stop."""
        return self._asked.is_set()

    def ask(self, grace: float) -> None:
        """Begin no call from now on, and leave those in flight `grace` seconds from now; asked again, nothing changes."""
        with self._guard:
            if self.asked:
                return
            self._asked.set()
        last = threading.Timer(grace, self.leave)
        last.daemon = True
        last.start()

    def leave(self) -> None:
        """Wait for no call any longer, now."""
        self._asked.set()
        with self._guard:
            in_flight = list(self._in_flight)
        for call in in_flight:
            call.cancel()

    def go_on(self) -> None:
        """Raise StoppedError once the process was asked to stop."""
        if self.asked:
            raise StoppedError

    def pause(self, seconds: float) -> None:
        """Let time pass before a call; raises StoppedError as soon as the process is asked to stop."""
        if self._asked.wait(seconds):
            raise StoppedError

    def wait_for(self, call: Future[T]) -> T:
        """What a call of a model returns or raises. Raises StoppedError, and the call is cancelled, when it is left."""
        with self._guard:
            self._in_flight.add(call)
            if self.asked:
                call.cancel()
        try:
            return call.result()
        except CancelledError:
            self.go_on()
            raise
        finally:
            with self._guard:
                self._in_flight.discard(call)
