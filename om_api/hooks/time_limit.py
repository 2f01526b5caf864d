"""Calls that are left alone when their time is over: a thread cannot be stopped, and nobody waits for it any longer."""

import asyncio
import inspect
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

MOST = 64  # calls at a time in one process, those that hang among them
MOST_OF_AN_AGENT = 16  # of them for one agent, so that its hooks that hang stop no other agent's


class Places:
    """Limits the calls that run at a time: `most` in all, and `most_of_one` agent."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._taken: Counter[str] = Counter()
        self._change = threading.Condition()

    def take(self, agent: str, seconds: float) -> None:
        """Wait for a place; raises TimeoutError once `seconds` are over."""

        def is_free() -> bool:
            return self._taken.total() < self._most and self._taken[agent] < self._most_of_one

        with self._change:
            if not self._change.wait_for(is_free, seconds):
                raise TimeoutError
            self._taken[agent] += 1

    def give_back(self, agent: str) -> None:
        """Free a place."""
        with self._change:
            self._taken[agent] -= 1
            self._taken = +self._taken
            self._change.notify_all()


_places = Places(MOST, MOST_OF_AN_AGENT)


def within(seconds: float, call: Callable[[], Any], agent: str = "") -> Any:
    """What a call returns, or the coroutine that it returns; TimeoutError once `seconds` are over.

    A coroutine is cancelled then. Any other call continues in its daemon thread, and until it ends takes one of 64 places, and
    one of the 16 of its `agent`. Without a free place a call waits for one within its own time. Raises what the call raises.
    """
    end = time.monotonic() + seconds
    _places.take(agent, seconds)
    found: Future[Any] = Future()
    try:
        threading.Thread(target=_run, args=(call, end, found, agent), name="om-hook", daemon=True).start()
    except RuntimeError:  # there are too many threads already
        _places.give_back(agent)
        raise
    return found.result(max(0.0, end - time.monotonic()))


def _run(call: Callable[[], Any], end: float, found: Future[Any], agent: str) -> None:
    try:
        came = call()
        found.set_result(asyncio.run(_awaited(came, end)) if inspect.isawaitable(came) else came)
    except Exception as error:  # noqa: BLE001 - it is raised where the call was made
        found.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - a hook that would end the process ends its own call
        found.set_exception(RuntimeError(type(error).__name__))
    finally:
        _places.give_back(agent)


async def _awaited(came: Any, end: float) -> Any:
    async with asyncio.timeout(max(0.0, end - time.monotonic())):
        return await came
