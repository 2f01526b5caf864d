"""A connection to Postgres that gives up on a server which says nothing: one that is paused, or behind a dead network."""

import time
from collections.abc import Generator
from typing import Any, Final, TypeVar

import psycopg

T = TypeVar("T")
_BESIDE_S: Final = 1.0  # beside the server's own limits, which end a statement and keep the connection
_WAITS: Final = 0  # what psycopg sends where nothing came in a while


class BinaryCursor(psycopg.Cursor[Any]):
    """One to which bytes come as they are, and not as twice as many figures."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.format = psycopg.pq.Format.BINARY


class BoundedConnection(psycopg.Connection[Any]):
    """One that is closed where an answer takes longer than the server lets a statement take."""

    _most_s = 3600.0

    def answers_within(self, seconds: float) -> None:
        """How long a statement may take, as the server was told too."""
        self._most_s = seconds + _BESIDE_S

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Run what waits for the server; raises OperationalError when it has waited too long."""
        try:
            return super().wait(_bounded(gen, time.monotonic() + self._most_s), *args, **options)
        except _SilenceError as error:
            self.close()
            raise psycopg.OperationalError(str(error)) from None


class _SilenceError(Exception):
    """Nothing was heard in time."""


def _bounded(gen: Generator[Any, Any, T], ends: float) -> Generator[Any, Any, T]:
    try:
        state = next(gen)
        while True:
            ready = yield state
            if ready == _WAITS and time.monotonic() > ends:
                gen.close()
                raise _SilenceError("the server does not answer")
            state = gen.send(ready)
    except StopIteration as ended:
        result: T = ended.value
        return result
