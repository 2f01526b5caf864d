"""What words are worth."""

import pytest

from om_api.recall.ranking import Bm25


def test_rare_words_are_worth_more():
    words = Bm25()

    assert words.rarity(1, 100) > words.rarity(10, 100) > words.rarity(100, 100) > 0
    assert pytest.approx(4.2096, abs=1e-3) == words.rarity(1, 100)


def test_long_messages_are_held_back_and_words_said_again_add_less():
    words = Bm25(k1=1.2, b=0.75)
    scores = words.scores([(2.0, {0: 1, 1: 1, 2: 2}), (1.0, {1: 1})], [10, 10, 10, 30], 10.0)

    assert pytest.approx({0: 2.0, 1: 3.0, 2: 2 * 2.2 * 2 / 3.2}) == scores
    assert words.scores([(2.0, {3: 1})], [10, 10, 10, 30], 10.0)[3] < 2.0
