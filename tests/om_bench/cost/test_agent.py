"""The agent of our own making."""

from itertools import pairwise

import pytest

from om_api.domain.tokens import counter
from om_bench.cost import histories
from om_bench.cost.calls import agent
from om_bench.cost.wire import size


def test_the_agent_of_our_own_making_is_the_same_every_time_and_of_the_size_it_says():
    (_, calls), (_, again) = agent(100), agent(100)
    added = histories.rendered(calls, counter())
    outputs = [call.output for call in calls]

    assert calls == again
    assert (sum(map(size, added)) - sum(outputs[:-1])) / 100 == pytest.approx(1600, rel=0.05)
    assert sum(outputs) / 100 == pytest.approx(150, rel=0.05)
    assert max(later.at - call.at for call, later in pairwise(calls)) < 300
