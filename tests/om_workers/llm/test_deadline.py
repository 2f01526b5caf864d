"""A call of a model ends when its time is over, and what becomes of it becomes of who waits for it."""

import asyncio
from concurrent.futures import CancelledError
from functools import partial

import pytest

from om_workers.llm.deadline import within
from om_workers.process.stopping import Stopping


def test_a_call_that_its_own_provider_cancels_is_not_taken_for_a_stop():
    async def cancelled():
        raise asyncio.CancelledError

    with pytest.raises(CancelledError):
        within(5, cancelled, Stopping().wait_for)


def test_a_call_whose_time_is_over_ends_though_somebody_may_leave_it():
    with pytest.raises(TimeoutError):
        within(0.05, partial(asyncio.sleep, 30), Stopping().wait_for)
