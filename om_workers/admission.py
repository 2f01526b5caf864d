"""Who may call a model now: its breaker is asked, its limits are waited for, and the breaker hears how the call ended."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from om_api.errors import ModelError, StoreError
from om_api.store import breaker, rates
from om_api.values import new_id
from om_workers.stopping import Stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from om_api.store.breaker import Outcome
    from om_api.store.connection import Connection
    from om_api.store.keys import Keys
    from om_api.store.rates import Rate

PATIENCE_S = 25.0  # for a limit: after that the scope is put off, and the thread does something else
_POLL_S = 0.5
_JITTER_S = 0.2
_GRACE_S = 15.0  # a call that has not ended so long after its timeout has nobody left who would say so


class PassedOverError(ModelError):
    """A model is not asked because it failed too often; another one may step in."""


class Passage:
    """One call's way past the breaker: `answered` and `failed` say how it ended, else it was not made."""

    def __init__(self) -> None:
        self.outcome: Outcome = "none"
        self.wait = 0.0

    def answered(self) -> None:
        """The model answered; whether that can be used is no matter of its health."""
        self.outcome = "answered"

    def failed(self, error: ModelError) -> None:
        """The call ended with an error: `busy` when the provider named a time, no failure when the request is to blame."""
        self.outcome = "busy" if error.retry_after else "failed" if error.retryable else "answered"
        self.wait = error.retry_after or 0.0


class Admission:
    """The breakers and limits of all models, in the store that every worker shares."""

    def __init__(
        self, connection: Connection, keys: Keys, *, patience: float = PATIENCE_S, stopping: Stopping | None = None
    ) -> None:
        self._run = connection.run
        self._keys = keys
        self._rates = rates.Rates(connection, keys)
        self._patience = patience
        self._stopping = stopping or Stopping()

    @contextmanager
    def admit(self, model: str, rate: Rate, tokens: int, timeout: float) -> Iterator[Passage]:
        """Let a call of `tokens` and at most `timeout` s through while the block runs.

        Raises PassedOverError while the breaker is open, and ModelError with a `retry_after` while the provider asked for a
        pause, or when the model's own limits would keep the call waiting for too long; StoreError when the store is away;
        StoppedError when this process is asked to stop while the call waits.
        """
        lease = self._patience + timeout + _GRACE_S
        with self._passage(model, lease) as passage, self._place(model, rate, tokens, lease):
            yield passage

    @contextmanager
    def _passage(self, model: str, lease: float) -> Iterator[Passage]:
        passage, token = Passage(), new_id()
        _refuse(model, self._run(breaker.enter(self._keys, model, token, lease)))
        try:
            yield passage
        finally:
            # What was paid for is not lost because nobody could be told; a probe's lease ends by itself.
            with suppress(StoreError):
                self._run(breaker.report(self._keys, model, token, passage.outcome, passage.wait))

    def _hold(self, model: str, most: int, token: str, lease: float) -> float:
        return 0.0 if self._run(rates.hold(self._keys, model, token, most, lease)) else _POLL_S

    @contextmanager
    def _place(self, model: str, rate: Rate, tokens: int, lease: float) -> Iterator[None]:
        until, token = time.monotonic() + self._patience, new_id()
        if rate.concurrency:
            self._wait_for(model, until, lambda: self._hold(model, rate.concurrency or 1, token, lease))
        try:
            self._wait_for(model, until, lambda: self._rates.take(model, rate, tokens))
            yield
        finally:
            if rate.concurrency:
                with suppress(StoreError):
                    self._run(rates.free(self._keys, model, token))

    def _wait_for(self, model: str, until: float, take: Callable[[], float]) -> None:
        """Wait until it is taken, as long as there is hope before `until`; ModelError with the time to come back if not."""
        while wait := take():
            if time.monotonic() + wait > until:
                raise ModelError(
                    f"{model} is at its limits (requests_per_minute, tokens_per_minute or concurrency); it is asked again"
                    f" by itself in {wait:.0f} s; if that does not end, raise them or run fewer tasks at a time",
                    retry_after=wait,
                    why="busy",
                )
            self._stopping.pause(wait + random.uniform(0, _JITTER_S))


def _refuse(model: str, state: breaker.State) -> None:
    if state.word == "open":
        text = f"{model} is passed over: it failed again and again; it is asked again by itself in {state.wait:.0f} s"
        raise PassedOverError(text, retry_after=state.wait, why="busy")
    if state.word == "busy":
        text = f"{model} is passed over: its provider asked all workers for a pause of {state.wait:.0f} s more"
        raise ModelError(text, retry_after=state.wait, why="busy")
