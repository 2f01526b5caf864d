"""The short run of what `make chaos` does for minutes."""

import pytest

from chaos import clock, report
from chaos.plan import Least, Run
from chaos.run import chaos

SHORT = Run(
    seconds=30,
    seed=1,
    # a move waits for a moment without unready chunks, which half a minute of kills may not have
    least=Least(kills=6, restarts=1, messages=900, scopes=20, generations=6, migrations=0, due=100, hours=0),
    message_threshold=1_000,
    observation_threshold=400,
    quiet_limit=90,  # a lease and then the lock of a dead worker, one after the other, beside other tests
    compares=False,
    leap_s=3_600 if clock.library() else 0,
)


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_thirty_seconds_of_kills_restarts_and_pauses_lose_and_double_nothing():
    """What it catches was tried by breaking copies of the tree: see docs/reliability.md."""
    result = chaos(SHORT)

    assert result.failures == [], report.table(result.seen)
