"""What contexts saved, and in words why that is below zero, or not known in dollars."""

import pytest

from om_api.store.fleet import spending
from om_api.store.memory.push import ServerClock


@pytest.fixture
def who(sign_in, world):
    world.say("Mine.", resource="harold", tokens=10)
    world.settle()
    served = {"contexts": 1, "raw": 10, "raw_cached": 4, "tokens": 25, "cached": 3}
    world.services.run(spending.tell(world.services.keys, ServerClock(), {"harold": served}))
    return sign_in("operator", "*")


def test_below_zero_is_explained_and_what_a_cache_would_hold_is_told(who):
    told = who.get("/ui/agents/harold/costs").text

    assert "Tokens saved are below zero: " in told
    assert [f'<td class="n">{each}</td>' in told for each in (10, 4, 25, 3, -15)] == [True] * 5
    assert "once actor_model (under Settings) names" in told
