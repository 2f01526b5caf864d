"""How the speed figures are measured."""

import pytest

from om_bench.speed.full import MESSAGES, OBSERVATIONS, THREAD, Full
from om_bench.speed.stand import Figure, beside, side_by_side, stand, us


def test_a_full_memory_has_40k_tokens_of_observations_and_30k_raw_and_turns_come_and_go(private_server_url):
    with stand(private_server_url) as made:
        full = Full(made, "reader")
        full.build()
        held, raw = made.om.stats("reader"), [_raw(made)]
        for _ in range(3):
            full.turn()
        raw.append(_raw(made))
        full.turn_back()
        raw.append(_raw(made))

    assert (held.observation_tokens, held.observations) == (OBSERVATIONS * 798, OBSERVATIONS)
    assert held.message_tokens + held.chunk_tokens == MESSAGES * 99
    assert held.chunks == held.ready_chunks > 0
    assert raw == [MESSAGES, MESSAGES + 3, MESSAGES]


def _raw(stand):
    return sum(block.kind == "message" for block in stand.om.get_context(THREAD, "reader").blocks)


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


def test_both_are_timed_in_turns():
    """So that what slows the machine down for a while slows both."""
    order = []
    ours, reference = side_by_side(lambda: order.append("ours"), lambda: order.append("reference"), 3)

    assert order == ["ours", "reference"] * 3
    assert (len(ours), len(reference)) == (3, 3)
