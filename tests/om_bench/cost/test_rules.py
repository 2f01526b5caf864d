"""How providers cache prompts, and for which models that is known."""

from __future__ import annotations

import pytest

from om_api.domain.errors import InvalidInputError
from om_bench.cost.rules import ACTORS, OBSERVERS, rules_of


def test_a_model_whose_rules_are_not_known_is_refused_with_those_that_are():
    with pytest.raises(InvalidInputError, match=r"gpt-5\.6-terra.*claude-\*"):
        rules_of("gpt-5.6-terra")
    assert all(map(rules_of, (*ACTORS, *OBSERVERS)))
