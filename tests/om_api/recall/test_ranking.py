"""What words are worth."""

import pytest

from om_api.recall.ranking import Bm25


def test_rare_words_are_worth_more():
    words = Bm25()

    assert words.rarity(1, 100) > words.rarity(10, 100) > words.rarity(100, 100) > 0
    assert pytest.approx(4.2096, abs=1e-3) == words.rarity(1, 100)


def test_long_messages_are_held_back():
    words = Bm25(k1=1.2, b=0.75)

    assert pytest.approx(1.2) == words.hold(10, 10)
    assert words.hold(20, 10) > words.hold(10, 10) > words.hold(5, 10)
