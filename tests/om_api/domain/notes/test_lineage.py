"""Which observations a generation stands for, and what changes when another one takes its place."""

import pytest

from om_api.domain.notes.lineage import Covered, Difference, covered, difference
from om_api.domain.values import Generation

# 1 stands for a and b; 2 for c too; 3 undid 2; 4 was made of 3, of c once more, and of d
HISTORY = {
    1: Generation(n=1, text="*", observation_ids=("a", "b")),
    2: Generation(n=2, text="*", observation_ids=("c",)),
    3: Generation(n=3, text="*", origin="restore", restores=1),
    4: Generation(n=4, text="*", observation_ids=("c", "d")),
}
TRIMMED = {n: HISTORY[n] for n in (3, 4)}
MOVED = {1: Generation(n=1, text="*", origin="restore", observation_ids=("a",)), 2: HISTORY[2]}


@pytest.mark.parametrize(("n", "ids"), [(0, ""), (1, "ab"), (2, "abc"), (3, "ab"), (4, "abcd")])
def test_a_generation_stands_for_what_it_was_made_of(n, ids):
    assert covered(HISTORY, n) == Covered(frozenset(ids), whole=True)


def test_beyond_what_is_kept_nobody_knows_what_else_it_stands_for():
    assert covered(TRIMMED, 4) == Covered(frozenset("cd"), whole=False)


@pytest.mark.parametrize(
    ("in_force", "wanted", "back", "away"),
    [
        (2, 1, "c", ""),
        (2, 0, "abc", ""),
        (4, 2, "d", ""),
        (4, 3, "cd", ""),
        (3, 2, "", "c"),
        (4, 4, "", ""),
    ],
)
def test_what_the_other_does_not_stand_for_comes_back_and_what_it_does_goes(in_force, wanted, back, away):
    assert difference(HISTORY, in_force, wanted) == Difference(frozenset(back), frozenset(away))


def test_nobody_knows_what_changes_beyond_what_is_kept_or_before_a_migration():
    assert difference(TRIMMED, 4, 2) is None
    assert difference(MOVED, 2, 0) is None
    assert difference(MOVED, 2, 1) == Difference(frozenset("c"), frozenset())
