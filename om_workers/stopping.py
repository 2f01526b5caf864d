"""How a worker process ends its calls of models: no new one begins, those in flight may end within a grace, then they are left.

A thread that waits for a model cannot be stopped. So the call is made in a thread of its own, and who waits for it is told to
wait no longer: the work then ends as after any error, gives back what it holds, and the process has nothing left to wait for.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from om_api.errors import OMError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        self._waited_for: set[Future[Any]] = set()

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
            waited_for = list(self._waited_for)
        for future in waited_for:
            future.cancel()

    def go_on(self) -> None:
        """Raise StoppedError once the process was asked to stop."""
        if self.asked:
            raise StoppedError

    def pause(self, seconds: float) -> None:
        """Let time pass before a call; raises StoppedError as soon as the process is asked to stop."""
        if self._asked.wait(seconds):
            raise StoppedError

    def wait_for(self, call: Callable[[], T]) -> T:
        """What a call of a model returns or raises. Raises StoppedError when it is not made, or no longer waited for."""
        future: Future[T] = Future()
        with self._in_flight(future):
            run = copy_context().run
            threading.Thread(target=run, args=(_settle, future, call), name="om-call", daemon=True).start()
            try:
                return future.result()
            except CancelledError:
                raise StoppedError from None

    @contextmanager
    def _in_flight(self, future: Future[Any]) -> Iterator[None]:
        with self._guard:
            self.go_on()
            self._waited_for.add(future)
        try:
            yield
        finally:
            with self._guard:
                self._waited_for.discard(future)


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    """Make a call for whoever waits; what comes too late is nobody's."""
    with suppress(InvalidStateError):
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is: nobody else would
            future.set_exception(error)
