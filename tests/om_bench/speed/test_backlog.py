"""What is read from the curve of a backlog that a fleet works off."""

from itertools import starmap

from om_bench.speed.backlog import Backlog, BacklogPlan, BacklogSample, as_lines

PLAN = BacklogPlan(agents=8, workers=1, concurrency=2, seconds=0.5, junk=20)


def backlog(*rows):
    """A curve of (at, observed, due, queue)."""
    return Backlog(plan=PLAN, curve=list(starmap(sample, rows)))


def sample(at, observed, due, queue):
    return BacklogSample(at=at, observed=observed, due=due, queue=queue, calls=observed)


def test_all_observed_is_not_yet_all_done():
    """Names that nobody wrote under stay due when the last agent is observed."""
    found = backlog((0.0, 0, 28, 0), (0.5, 3, 24, 4), (1.0, 8, 3, 0), (1.5, 8, 0, 1), (2.0, 8, 0, 0))

    assert (found.observed_at, found.drained_at) == (1.0, 2.0)
    assert (found.most, found.bound) == (4, 4)


def test_what_was_not_done_in_the_time_given_is_told_so():
    found = backlog((0.0, 0, 28, 0), (0.5, 3, 24, 9))

    assert (found.observed_at, found.drained_at) == (None, None)
    assert "| all observed after | not in the time given |" in as_lines(found)
    assert "| longest queue (bound) | 9 (4) |" in as_lines(found)


def test_a_long_curve_is_shown_in_twenty_rows_and_its_end():
    table = "\n".join(as_lines(backlog(*((n / 2, n, 99 - n, 0) for n in range(100)))))
    rows = table.split("| s | observed | due | queue | calls |")[1].splitlines()[2:]

    assert len(rows) == 21
    assert (rows[0], rows[-1]) == ("| 0.0 | 0 | 99 | 0 | 0 |", "| 49.5 | 99 | 0 | 0 | 99 |")
