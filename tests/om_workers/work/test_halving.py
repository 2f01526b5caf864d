"""Where a chunk is halved: near the middle, between calls and results where that costs nothing, never more than log2(n) deep."""

from __future__ import annotations

from math import ceil, floor, log2

import pytest

from om_api.domain.chunking import RawMessage
from om_api.domain.policy import Limits
from om_workers.work.halving import half

LIMITS = Limits()


def plain(n):
    return [RawMessage(10, at) for at in range(n)]


def pairs(n, every=2):
    """A call and its result at the end of every `every` turns."""
    calls = {at: str(at) for at in range(every - 2, n, every)}
    return [
        RawMessage(
            10, at, frozenset({calls[at]} if at in calls else ()), frozenset({calls[at - 1]} if at - 1 in calls else ())
        )
        for at in range(n)
    ]


def depths(turns):
    """How many halvings each turn takes until it is alone."""
    if len(turns) == 1:
        return [0]
    n = half(turns, LIMITS)
    return [1 + depth for depth in (*depths(turns[:n]), *depths(turns[n:]))]


@pytest.mark.parametrize("turns", [plain, pairs, lambda n: pairs(n, 3), lambda n: pairs(n, 4), lambda n: pairs(n, 7)])
def test_no_turn_takes_more_halvings_than_the_logarithm_of_their_number(turns):
    assert [n for n in (2, 3, 5, 8, 60, 127, 128, 129, 500) if max(depths(turns(n))) > ceil(log2(n))] == []


@pytest.mark.parametrize("n", [3, 5, 60, 129, 500])
def test_the_first_turn_takes_the_fewest_because_its_trial_is_paid_for_with_a_question_more(n):
    """The first has no neighbour that was observed before it: the model is asked for something harmless then."""
    assert depths(plain(n))[0] == floor(log2(n))


def test_a_call_stays_with_its_result_until_they_are_alone():
    turns = pairs(500)
    parts, parted = [turns], []
    while parts:
        part = parts.pop()
        n = half(part, LIMITS)
        parted += [len(part)] if part[n - 1].calls & part[n].answers else []
        parts += [some for some in (part[:n], part[n:]) if len(some) > 1]

    assert set(parted) == {2}


def test_a_call_without_a_result_holds_nothing_together():
    turns = plain(12)
    turns[1] = turns[1]._replace(calls=frozenset({"never answered"}))
    turns[5], turns[6] = turns[5]._replace(calls=frozenset({"c"})), turns[6]._replace(answers=frozenset({"c"}))

    assert half(turns, LIMITS) == 5


def test_where_everything_hangs_together_the_middle_is_cut():
    turns = plain(6)
    turns[0], turns[5] = turns[0]._replace(calls=frozenset({"c"})), turns[5]._replace(answers=frozenset({"c"}))

    assert half(turns, LIMITS) == 3
