from __future__ import annotations

import pytest

from om_bench.harness.figures import Figure, beside, side_by_side, us


def test_ours_is_told_beside_its_reference_by_their_medians():
    figure = beside("a push", [1e-6, 9e-6, 3e-6], [1e-6, 2e-6, 1.5e-6], reach=2, what="a bare ZADD")

    assert (figure.ours, figure.reference, figure.value) == ("3.0 us", "1.5 us: a bare ZADD", pytest.approx(2))
    assert us(0.0123) == "12,300.0 us"


@pytest.mark.parametrize(
    ("reach", "at_least", "met"), [(2, False, True), (1.9, False, False), (2, True, True), (2.1, True, False)]
)
def test_a_target_is_met_by_what_just_reaches_it(reach, at_least, met):
    assert Figure(work="w", ours="", reference="", value=2, reach=reach, at_least=at_least).met is met


def test_what_has_no_target_is_not_judged():
    assert Figure(work="w", ours="", reference="", value=2, reach=None).met is None


def test_both_are_timed_in_turns():
    """So that what slows the machine down for a while slows both."""
    order = []
    ours, reference = side_by_side(lambda: order.append("ours"), lambda: order.append("reference"), 3)

    assert order == ["ours", "reference"] * 3
    assert (len(ours), len(reference)) == (3, 3)
