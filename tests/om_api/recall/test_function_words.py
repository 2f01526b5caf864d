"""The little words."""

from om_api.recall.function_words import ALSO_LITTLE, LITTLE_WORDS
from om_api.recall.stemming import LANGUAGES


def test_they_are_of_languages_that_have_stems_and_in_lower_case():
    assert set(LITTLE_WORDS) <= set(LANGUAGES)
    assert set(ALSO_LITTLE) <= set(LITTLE_WORDS)
    assert all(word == word.lower() for words in LITTLE_WORDS.values() for word in words)
