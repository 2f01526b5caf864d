"""When which process is ended, and how."""

from collections import Counter
from itertools import pairwise

import pytest

from load.plan import Run, cast, restarts

NAMES = ["server", "worker-0", "worker-1", "beat-0", "beat-1", "api"]


@pytest.mark.parametrize("seed", range(10))
def test_every_process_is_restarted_as_often_as_asked_by_both_signals(seed):
    planned = restarts(Run(seed=seed), NAMES)

    assert Counter(each.who for each in planned) == dict.fromkeys(NAMES, 4)
    assert Counter((each.who, each.how.name) for each in planned) == {
        (name, how): 2 for name in NAMES for how in ("SIGTERM", "SIGKILL")
    }


@pytest.mark.parametrize("seed", range(10))
def test_restarts_come_one_after_the_other_within_the_run(seed):
    planned = restarts(Run(seed=seed), NAMES)

    assert all(one.at < next_.at for one, next_ in pairwise(planned))
    assert planned[-1].at < Run().seconds


def test_the_same_seed_plans_the_same():
    assert restarts(Run(seed=7), NAMES) == restarts(Run(seed=7), NAMES) != restarts(Run(seed=8), NAMES)


def test_a_run_without_restarts_has_none():
    assert restarts(Run(restarts=0), NAMES) == []


def test_the_cast_has_more_than_fifty_resources_that_nobody_clears():
    lasting = [member for member in cast() if member.fate != "clear"]

    assert len(lasting) > 50
    assert {member.name.partition("-")[0] for member in lasting} == {"pool", "solo"}
    assert min(len(member.threads) for member in lasting) >= 2
