"""Every way of sending the same calls, held against the cached full history."""

import json

import pytest
from benches import SMALL, cost


@pytest.mark.nightly
def test_every_way_is_billed_for_the_same_answers_and_held_against_the_cached_history():
    lines = json.loads(cost(*SMALL, "--json").output)["lines"]
    cached = next(line for line in lines if line["strategy"] == "full history, cached")
    dollars = {line["observer"]: line["remembering"]["dollars"] for line in lines if line["strategy"] == "memory"}

    assert len({line["answering"]["output"] for line in lines}) == 1
    assert cached["factor"] == 1.0
    assert all(line["factor"] == pytest.approx(cached["dollars"] / line["dollars"]) for line in lines)
    assert dollars["extractive"] == 0
    assert dollars["gemini-2.5-flash-lite"] < dollars["gemini-2.5-flash"] < dollars["the actor's own model"]
