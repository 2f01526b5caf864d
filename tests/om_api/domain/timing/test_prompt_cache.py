"""The step of a raw window that costs least, against reckoning every step."""

import pytest

from om_api.domain.timing.prompt_cache import PromptCache, cheapest_step

CLAUDE = PromptCache(lifetime_ms=300_000, minimum=1024, write=1.25, read=0.1)


def dollars(step, floor, a_call):
    """Of a call, in tokens at the cached price: what is read above the floor, and its share of what is written again."""
    return step / 2 + a_call / step * floor * CLAUDE.rewriting


def test_no_step_costs_less_than_the_cheapest():
    for floor, a_call in ((3_000, 1_743), (6_000, 1_743), (3_000, 150)):
        best = cheapest_step(CLAUDE, floor, a_call)
        assert best == pytest.approx(min(range(100, 60_000, 50), key=lambda step: dollars(step, floor, a_call)), abs=50)
    assert PromptCache().rewriting == 0
    assert PromptCache(write=1.0, read=0.0).rewriting == 0
    assert CLAUDE.rewriting == pytest.approx(11.5)
