"""Who may call a model now: its breaker is asked, its limits are waited for, and the breaker hears how the call ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from om_api.domain.errors import ModelError, StoreError
from om_api.domain.timing.chance import chance
from om_api.domain.values import new_id
from om_api.store.driver.connection import Connection
from om_api.store.fleet import breaker, rates
from om_api.store.fleet.breaker import Attempt, Outcome
from om_api.store.fleet.rates import Rate
from om_api.store.memory.keys import Keys
from om_workers.process.stopping import Stopping

PATIENCE_S = 25.0  # for a limit: after that the scope is put off, and the thread does something else
TURN_S = 5.0  # at least, for whoever has waited in vain: others have their turn first
_FIRST_POLL_S, _POLL_S = 0.05, 0.5  # less and less often: nobody knows how long the call takes whose place comes free
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
        failed: Outcome = "late" if error.why == "timeout" else "failed"
        self.outcome = "busy" if error.retry_after else failed if error.retryable else "answered"
        self.wait = error.retry_after or 0.0


class Admission:
    """The breakers and limits of all models, in the store that every worker shares."""

    def __init__(
        self, connection: Connection, keys: Keys, *, patience: float = PATIENCE_S, stopping: Stopping | None = None
    ) -> None:
        self._run = connection.run
        self._keys = keys
        self._rates = rates.RateLimiter(connection, keys)
        self._patience = patience
        self._stopping = stopping or Stopping()

    @contextmanager
    def admit(self, model: str, rate: Rate, tokens: int, timeout: float, resource: str = "") -> Iterator[Passage]:
        """Let a call of `tokens` and at most `timeout` s through while the block runs; `resource` is the agent it is made for.

        Raises PassedOverError while the breaker of the model, or of the agent, is open, and ModelError with a `retry_after` while
        the provider refuses all calls, of every agent or of this one, or when limits would keep the call waiting for too long:
        the model's own, or what its provider lets through. StoreError when the store is away; StoppedError when this process is
        asked to stop while the call waits.
        """
        passage, call = Passage(), Attempt(model, new_id(), timeout + _GRACE_S, resource)
        self._wait_for(call, rate, tokens)
        try:
            yield passage
        finally:
            self._report(call, passage)

    def _report(self, call: Attempt, passage: Passage) -> None:
        """Give the place back. What was paid for is not lost because nobody could be told: a place's lease ends by itself."""
        with suppress(StoreError):
            self._run(breaker.report(self._keys, call, passage.outcome, passage.wait))

    def _wait_for(self, call: Attempt, rate: Rate, tokens: int) -> None:
        """Wait until the call may be made, as long as there is hope; ModelError with the time to come back if not."""
        until, poll = time.monotonic() + self._patience, _FIRST_POLL_S
        while wait := self._try(call, rate, tokens, poll):
            if time.monotonic() + wait > until:
                raise ModelError(
                    f"{call.model} is at its limits (requests_per_minute, tokens_per_minute or concurrency, or what its"
                    f" provider lets through); it is asked again by itself in {max(wait, TURN_S):.0f} s; if that does not end,"
                    f" raise them or run fewer tasks at a time",
                    retry_after=max(wait, TURN_S),
                    why="busy",
                )
            self._stopping.pause(wait + chance.uniform(0, min(wait, _JITTER_S)))
            poll = min(2 * poll, _POLL_S)

    def _try(self, call: Attempt, rate: Rate, tokens: int, poll: float) -> float:
        """0.0 when the call may be made now, else the seconds after which to try again: it holds no place meanwhile."""
        state = self._run(breaker.enter(self._keys, call, rate.concurrency))
        _refuse(call.model, state)
        if state.word == "full":
            return poll
        wait = poll
        try:
            wait = self._rates.take(call.model, rate, tokens)
        finally:
            if wait:
                self._report(call, Passage())
        return wait


def _refuse(model: str, state: breaker.BreakerState) -> None:
    if state.word == "open":
        text = f"{model} is passed over: it failed again and again; it is asked again by itself in {state.wait:.0f} s"
        raise PassedOverError(text, retry_after=state.wait, why="busy")
    if state.word == "busy":
        text = f"{model} is passed over: its provider asked for a pause of {state.wait:.0f} s more"
        raise ModelError(text, retry_after=state.wait, why="busy")
