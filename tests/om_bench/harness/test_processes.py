"""Processes are measured from outside, and waited for with patience."""

import os

import pytest

from om_api import StoreError
from om_bench.harness import processes


def test_what_does_not_come_in_time_is_named():
    with pytest.raises(StoreError, match="7 observations did not come within 0 s"):
        processes.wait(lambda: False, "7 observations", patience_s=0.0)


def test_work_takes_a_process_processor_time_and_memory():
    before = processes.cpu_s(os.getpid())
    processes.wait(lambda: processes.cpu_s(os.getpid()) > before, "a hundredth of a second of work", poll_s=0.0)

    assert 10_000_000 < processes.resident(os.getpid()) < 10_000_000_000
    assert processes.idle_s() > 0
