"""The short run of what `make limits` does for minutes, and how it counts."""

import pytest

from pace.__main__ import Counted, Run, count, measure

SHORT = Run(seconds=20, per_minute=600, window=5)  # ten a second


def test_every_window_is_counted_wherever_it_begins():
    for arrivals, end, expected in (
        ([0, 1, 2, 3, 4, 5], 6, Counted(6, 2, 2)),
        ([0, 1, 2, 3, 4, 5], 10, Counted(6, 0, 2)),
        ([0, 0, 0, 5, 5, 5], 6, Counted(6, 0, 3)),
        ([5, 0, 1, 1.5, 3.2], 6, Counted(5, 1, 3)),
        ([0, 1.9, 2.1, 4], 5, Counted(4, 1, 2)),
        ([0, 0.5], 1, Counted(2, 2, 2)),
        ([], 10, Counted(0, 0, 0)),
    ):
        assert count(arrivals, 2, end) == expected, arrivals


@pytest.mark.nightly
def test_two_workers_with_32_threads_each_keep_to_one_limit():
    # breaks when each worker counts by itself: 100 calls in a window; `make limits` checks that they use the limit, too
    counted, saw = measure(SHORT)

    assert 0 < counted.most <= 60, saw  # ten in each of five seconds, and those of a sixth that came early
