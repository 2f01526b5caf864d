"""Patience with models that are away: they are asked again for some minutes, then the run stops."""

import time
from collections.abc import Callable
from typing import TypeVar

from om_api.domain.errors import ModelError
from om_workers.calls.model_calls import patience_ms

T = TypeVar("T")
MOST_S = 300.0  # of pauses, one after the other


def patiently(ask: Callable[[], T], settled: Callable[[ModelError], bool] = lambda error: not error.retryable) -> T:
    """What is asked for, after as many pauses as it takes.

    Raises the ModelError at once that is `settled`, so that waiting changes nothing, any other after five minutes.
    """
    left = MOST_S
    while True:
        try:
            return ask()
        except ModelError as error:
            left -= (pause := patience_ms(error) / 1000)
            if settled(error) or left < 0:
                raise
        time.sleep(pause)
