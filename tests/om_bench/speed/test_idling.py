"""The ticks that are measured are those that run in production."""

from __future__ import annotations

from om_bench.speed import idling
from om_bench.speed.agents import town


def test_the_ticks_that_are_measured_claim_what_is_due_and_nothing_else():
    with town(4) as some:
        before = some.bare.zscore(some.keys.due_observe, some.names[1])
        assert idling._observe(2)(some) > 0

        scores = [some.bare.zscore(some.keys.due_observe, name) for name in some.names]
        assert 0 < scores[0] < before
        assert scores[1] == before
