import pytest

from om_bench.harness import stems as stemming
from om_bench.harness.stems import stems, telling


def test_words_of_one_stem_number_or_month_are_the_same():
    assert stems("adopting two dogs in September") == [*stems("adopted"), "2", "dog", None, "sep"]
    assert telling("It is the") == frozenset()


def test_the_stemmer_is_given_figures_for_numbers_and_months_in_three_letters():
    assert stems("Two dogs' owner’s trip in September, don't") == ["2", "dog", "owner", "trip", None, "sep", None]


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(stemming, "Stemmer", None)
    stemming._stem.cache_clear()

    with pytest.raises(stemming.SettingsError, match=r"cortex-om\[bench\]"):
        stems("greyhound")
    stemming._stem.cache_clear()
