"""Calls that are left alone when their time is over: a thread cannot be stopped, and nobody waits for it any longer."""

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

MOST = 64  # calls at a time in one process, those that hang among them
_room = threading.BoundedSemaphore(MOST)


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """What a call returns, or the coroutine that it returns; TimeoutError once `seconds` are over.

    A coroutine is cancelled then. Anything else goes on in its daemon thread until it ends, and takes one of 64 places until
    then: where all are taken, whoever comes waits for one within its own time. Raises what the call raises.
    """
    end = time.monotonic() + seconds
    if not _room.acquire(timeout=seconds):
        raise TimeoutError
    found: Future[Any] = Future()
    try:
        threading.Thread(target=_run, args=(call, end, found), name="om-hook", daemon=True).start()
    except RuntimeError:  # there are too many threads already
        _room.release()
        raise
    return found.result(max(0.0, end - time.monotonic()))


def _run(call: Callable[[], Any], end: float, found: Future[Any]) -> None:
    try:
        came = call()
        found.set_result(asyncio.run(_awaited(came, end)) if inspect.isawaitable(came) else came)
    except Exception as error:  # noqa: BLE001 - it is raised where the call was made
        found.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - a hook that would end the process ends its own call
        found.set_exception(RuntimeError(type(error).__name__))
    finally:
        _room.release()


async def _awaited(came: Any, end: float) -> Any:
    async with asyncio.timeout(max(0.0, end - time.monotonic())):
        return await came
