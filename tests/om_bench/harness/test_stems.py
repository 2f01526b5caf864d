from __future__ import annotations

import pytest

from om_bench.harness import stems as stemming
from om_bench.harness.stems import stems, telling


def test_words_of_one_stem_number_or_month_are_the_same():
    assert stems("adopting two dogs in September") == [*stems("adopted"), "2", "dog", None, "sep"]
    assert telling("It is the") == frozenset()


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(stemming, "Stemmer", None)
    stemming._stem.cache_clear()

    with pytest.raises(stemming.SettingsError, match=r"cortex-om\[bench\]"):
        stems("greyhound")
    stemming._stem.cache_clear()
