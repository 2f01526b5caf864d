"""What dies is started again after ever longer pauses, and what a shell ignores stays ignored."""

import signal
from itertools import pairwise

from om_api.cli.children import Keeper, StopRequests
from om_api.domain.errors import StoreError


class Failing:
    name = "worker"

    def __init__(self, error=None):
        self.alive = False
        self.starts = 0
        self.error = error

    def start(self):
        self.starts += 1
        if self.error:
            raise self.error


def starts(child, seconds):
    keeper, found, before = Keeper(child, lambda _: None), [], 0
    for second in range(seconds):
        keeper.tend(second)
        if child.starts > before:
            before = child.starts
            found.append(second)
    return found


def test_what_dies_at_once_is_started_after_ever_longer_pauses():
    for error in [None, StoreError("no")]:
        at = starts(Failing(error), 200)
        pauses = [after - before - 1 for before, after in pairwise(at)]  # it takes one look to notice
        assert at[0] == 1, error
        assert pauses[:7] == [2, 4, 8, 16, 30, 30, 30], error


def test_what_a_shell_has_its_background_jobs_ignore_stays_ignored():
    """A script that runs `om up &`: Ctrl-C is for who stands in front."""
    stop = StopRequests()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        with stop.listening():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
    assert stop.times == 1
