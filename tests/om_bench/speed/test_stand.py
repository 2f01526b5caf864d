import pytest

from om_bench.speed.stand import Figure, beside, side_by_side, slow, us


def test_ours_is_told_beside_its_reference_by_their_medians():
    figure = beside("a push", [1e-6, 9e-6, 3e-6], [1e-6, 2e-6, 1.5e-6], reach=2, what="a bare ZADD")

    assert (figure.ours, figure.reference, figure.value) == ("3.0 us", "1.5 us: a bare ZADD", pytest.approx(2))
    assert us(0.0123) == "12,300.0 us"


def test_a_target_is_met_by_what_just_reaches_it():
    for reach, at_least, met in [(2, False, True), (1.9, False, False), (2, True, True), (2.1, True, False)]:
        assert Figure(work="w", ours="", reference="", value=2, reach=reach, at_least=at_least).met is met, (
            reach,
            at_least,
        )


def test_what_is_slow_is_what_one_in_a_hundred_takes():
    assert (slow([1.0] * 98 + [7.0, 9.0]), slow([3.0])) == (9.0, 3.0)


def test_both_are_timed_in_turns():
    """So that what slows the machine down for a while slows both."""
    order = []
    ours, reference = side_by_side(lambda: order.append("ours"), lambda: order.append("reference"), 3)

    assert order == ["ours", "reference"] * 3
    assert (len(ours), len(reference)) == (3, 3)
