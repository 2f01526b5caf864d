"""Texts of no index are ranked by their words."""

from om_api.recall.ranked_texts import ranked

TEXTS = [
    "The passport lies in the blue drawer of the desk.",
    "Harold prefers window seats on flights.",
    "Blue is his favourite colour; the car is blue as well, and so is the house.",
    "",
    "护照在抽屉里",
]


def places(query):
    return [place for place, _ in ranked(query, TEXTS)]


def test_what_has_the_words_comes_first_and_what_has_none_not_at_all():
    assert places("Where is the blue passport?") == [0, 2]
    assert places("flight") == [1]
    assert places("submarine") == []


def test_a_rare_word_outweighs_a_frequent_one():
    scores = dict(ranked("blue drawer", TEXTS))

    assert scores[0] > scores[2] > 0


def test_a_query_of_little_words_is_still_looked_for():
    assert 0 in places("the")


def test_a_single_character_is_found_within_a_word():
    assert places("照") == [4]


def test_nothing_is_found_in_nothing():
    assert ranked("blue", []) == []
    assert ranked("", TEXTS) == []
    assert ranked("blue", [""]) == []
