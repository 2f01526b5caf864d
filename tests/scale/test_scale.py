"""The short run of what `make scale` does for minutes, on Sentinel, and its parts. The others have theirs in e2e/."""

import pytest
from chaos.plan import Least, faults

from scale import report
from scale.report import table
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
_WHOLE = {"kill": "start", "pause": "resume"}


def _named(name):
    return next(each for each in TOPOLOGIES if each.name.startswith(name))


@pytest.mark.timeout(300)
def test_a_failover_of_sentinels_primary_loses_and_doubles_nothing():
    topology = _named("Sentinel")._replace(kinds=("kill primary",))
    found = ran(topology, run_of(topology, _SECONDS, 1)._replace(least=_SHORT))

    assert found.result.failures == [], report.table([found])
    assert (found.result.seen.lost, found.result.seen.doubled) == (0, 0)
    assert found.failovers >= 1


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=[each.name for each in TOPOLOGIES])
@pytest.mark.parametrize("seconds", [60, 300])
def test_every_kind_of_fault_has_its_turn_and_what_is_away_comes_back(topology, seconds):
    planned = [
        fault.what for fault in faults(run_of(topology, seconds, 7)) if fault.what.split()[1] not in {"worker", "beat"}
    ]

    assert {*topology.kinds} <= {*planned}
    for n, what in enumerate(planned):
        verb, _, whom = what.partition(" ")
        if verb in _WHOLE:
            assert planned[n + 1] == f"{_WHOLE[verb]} {whom}"


def test_a_table_keeps_the_rows_of_topologies_that_were_not_run():
    before = "| topology | lost |\n| --- | --- |\n| Cluster, wait_replicas: 1 | 0 |\n| one server | 0 |\n| gone | 9 |"

    head, _, *rows = table([], before).splitlines()

    assert head.startswith("| topology | seconds of faults |")
    assert rows == ["| one server | 0 |", "| Cluster, wait_replicas: 1 | 0 |"]
