"""The short run of what `make scale` does for minutes, on Sentinel. The others have theirs in e2e/."""

import pytest
from chaos.plan import Least

from scale import report
from scale.topologies import TOPOLOGIES, ran, run_of

_SECONDS = 15
_SHORT = Least(
    kills=2,
    restarts=0,
    messages=150,
    scopes=10,
    scopes_of_a_kind=2,
    generations=0,
    clears=0,
    migrations=0,
    due=50,
    hours=0,
)


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_failover_of_sentinels_primary_loses_and_doubles_nothing():
    sentinel = next(each for each in TOPOLOGIES if each.name.startswith("Sentinel"))
    topology = sentinel._replace(kinds=("kill primary",))
    found = ran(topology, run_of(topology, _SECONDS, 1)._replace(least=_SHORT))

    assert found.result.failures == [], report.table([found])
    assert (found.result.seen.lost, found.result.seen.doubled) == (0, 0)
    assert found.failovers >= 1
