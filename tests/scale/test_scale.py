"""The short run of what `make scale` does for minutes, on Sentinel. The others have theirs in e2e/."""

import pytest
from chaos.plan import Least

from scale.topologies import TOPOLOGIES, ran, run_of, table

_SECONDS = 15
_NONE = dict.fromkeys(("restarts", "generations", "clears", "migrations", "hours"), 0)
_SHORT = Least(kills=2, messages=150, scopes=10, scopes_of_a_kind=2, due=50, **_NONE)


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_failover_of_sentinels_primary_loses_and_doubles_nothing():
    sentinel = next(each for each in TOPOLOGIES if each.name.startswith("Sentinel"))
    topology = sentinel._replace(kinds=("kill primary",))
    seen, failures = ran(topology, run_of(topology, _SECONDS, 1)._replace(least=_SHORT))

    assert failures == [], table({topology.name: seen})
    assert (seen.verdict.lost, seen.verdict.doubled) == (0, 0)
    assert seen.failovers >= 1
