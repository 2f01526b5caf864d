"""How many of what, in words."""

from __future__ import annotations

import pytest

from om_api.domain.amounts import amount


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (1, ("message",), "1 message"),
        (0, ("message",), "0 messages"),
        (1_204, ("message",), "1,204 messages"),
        (1, ("entry", "entries"), "1 entry"),
        (2, ("entry", "entries"), "2 entries"),
    ],
)
def test_a_number_stands_with_its_noun(number, words, text):
    assert amount(number, *words) == text
