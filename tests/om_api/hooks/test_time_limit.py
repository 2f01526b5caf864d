"""A call is waited for as long as it may take, and left alone then; so many may be under way and no more."""

import asyncio
import threading
import time

import pytest

from om_api.hooks import time_limit
from om_api.hooks.time_limit import within


def test_what_a_call_returns_or_raises_is_the_callers():
    async def later():
        await asyncio.sleep(0)
        return 7

    assert within(30, lambda: 6) == 6
    assert within(5, later) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)


def test_a_hook_that_would_end_the_process_ends_its_own_call():
    def leave():
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="SystemExit"):
        within(5, leave)


def test_a_call_that_hangs_is_left_alone_and_takes_a_place_until_it_ends(monkeypatch):
    monkeypatch.setattr(time_limit, "_room", threading.BoundedSemaphore(1))
    over, began = threading.Event(), time.monotonic()

    with pytest.raises(TimeoutError):
        within(0.05, lambda: over.wait(30))
    with pytest.raises(TimeoutError):  # no place
        within(0.05, lambda: 6)
    assert time.monotonic() - began < 5
    over.set()
    assert within(30, lambda: 6) == 6


def test_a_coroutine_is_cancelled(monkeypatch):
    monkeypatch.setattr(time_limit, "_room", threading.BoundedSemaphore(1))
    ended = threading.Event()

    async def hang():
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        within(0.05, hang)
    assert ended.wait(30)
    assert within(30, lambda: 6) == 6


def test_where_no_thread_can_be_started_the_place_is_free_again(monkeypatch):
    monkeypatch.setattr(time_limit, "_room", threading.BoundedSemaphore(1))

    def refuse(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            within(5, lambda: 6)
    assert within(30, lambda: 6) == 6
