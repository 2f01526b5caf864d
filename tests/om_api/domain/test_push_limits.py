"""Limits of pushes: their words, and what is said of one that is reached."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.push_limits import ANYBODY, MOST, Pusher, PushLimits, PushPace


def test_where_nothing_is_limited_the_script_is_told_nothing():
    assert PushPace().words() == ""
    assert PushPace(pusher=Pusher("k-1")).words() == ""


def test_the_script_is_told_how_far_ahead_then_the_resources_limits_then_its_pushers():
    pace = PushPace(PushLimits(0.5, 1_234_567), Pusher("k-1", PushLimits(bytes=MOST)), ahead_s=1)

    assert pace.words() == "1 0.5 1234567 0 1000000000"


@pytest.mark.parametrize(
    ("which", "said"),
    [
        (1, "harold takes 10 messages a second (push_limits), and more was pushed"),
        (2, "harold takes 2,000 bytes a second (push_limits), and more was pushed"),
        (3, "this key may push 0.5 messages a second to harold, and has pushed more"),
        (4, "this key may push 300 bytes a second to harold, and has pushed more"),
    ],
)
def test_the_limit_that_is_reached_is_named(which, said):
    assert PushPace(PushLimits(10, 2_000), Pusher("k-1", PushLimits(0.5, 300))).refusal(which, "harold") == said


@pytest.mark.parametrize("limits", [PushLimits(-1, 0), PushLimits(0, MOST + 1), PushLimits(float("nan"), 0)])
def test_what_is_no_limit_is_refused(limits):
    with pytest.raises(InvalidInputError, match="from 0 "):
        limits.checked()


def test_a_limit_is_taken_as_it_is():
    assert PushLimits(0.5, MOST).checked() == (0.5, MOST)
    assert ANYBODY.limits.checked() == (0, 0)
