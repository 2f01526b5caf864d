import pytest

from om_bench.harness import stems as stemming
from om_bench.harness.stems import stems, telling


def test_words_of_one_stem_number_or_month_are_the_same():
    assert stems("adopting two dogs in September") == [*stems("adopted"), "2", "dog", None, "sep"]
    assert telling("It is the") == frozenset()


def test_the_stemmer_is_given_figures_for_numbers_and_months_in_three_letters():
    assert stems("Two dogs' owner’s trip in September, don't") == ["2", "dog", "owner", "trip", None, "sep", None]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("We may call on May 7 at 9 AM", ["call", "may", "7", "9", "am"]),
        ("I am with us and it", []),
        ("The US office, in IT", ["us", "offic", "it"]),
        ("Grüße aus Zürich", ["grüße", "aus", "zürich"]),
        ("裕子さんは in 金", ["裕子", "子さ", "さん", "んは", "金"]),
        ("at five o'clock", ["5", "o", "clock"]),
    ],
)
def test_case_and_script_decide_what_is_a_word(text, seen):
    assert [stem for stem in stems(text) if stem] == seen


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(stemming, "Stemmer", None)
    stemming._stem.cache_clear()

    with pytest.raises(stemming.SettingsError, match=r"cortex-om\[bench\]"):
        stems("greyhound")
    stemming._stem.cache_clear()
