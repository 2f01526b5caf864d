"""The short run of what `make load` does for minutes: the same promises, no figures asked for."""

import pytest
from load import report
from load.plan import Least, Run
from load.run import load

SHORT = Run(
    seconds=20,
    rate=60,
    agents=12,
    restarts=1,
    least=Least(rate=0, resources=30, restarts=1, beside=0, hostile=0, waits=0, due=0),
    noise=0,  # how long somebody waits is a figure
    hostile_turn=5,
    hostile_limit=1_000,  # his part is a figure
    message_threshold=600,
    observation_threshold=400,
    quiet_limit=120,  # leases and locks of the dead, one after the other, beside other tests
)


@pytest.mark.timeout(400)
def test_with_everything_asked_for_at_once_and_every_process_restarted_nothing_is_lost():
    """What it catches was tried by breaking copies of the tree: a push that is acknowledged and not kept, a 503 or 500 that
    nothing excuses, a key that opens others' memories, a page that repeats, an observation without one of its messages."""
    result = load(SHORT)

    assert result.failures == [], report.tables(result.seen)
