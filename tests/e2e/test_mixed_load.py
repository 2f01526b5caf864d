"""The short run of what `make load` does for minutes: the same promises, no figures asked for."""

import pytest
from load import report
from load.plan import Least, Run
from load.run import load

_LEAST = Least(rate=0, resources=30, restarts=1, beside=0, hostile=0, waits=0, due=0)
# no noise and a high hostile limit: those are figures; quiet_limit: leases and locks of the dead, beside other tests
SHORT = Run(seconds=20, rate=60, agents=12, restarts=1, least=_LEAST, noise=0, hostile_turn=5, hostile_limit=1_000,
    message_threshold=600, observation_threshold=400, quiet_limit=120)  # fmt: skip


@pytest.mark.timeout(400)
def test_with_everything_asked_for_at_once_and_every_process_restarted_nothing_is_lost():
    """What it catches was tried by breaking copies of the tree: a push that is acknowledged and not kept, a 503 or 500 that
    nothing excuses, a key that opens others' memories, a page that repeats, an observation without one of its messages."""
    result = load(SHORT)
    assert result.failures == [], report.tables(result.seen)
