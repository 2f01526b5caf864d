"""Stems by Snowball, which the bench compares words by."""

from __future__ import annotations

from functools import cache

try:
    import Stemmer
except ImportError:  # the extra `bench` is not installed
    Stemmer = None

from om_api.domain.errors import SettingsError
from om_api.language.stems import stemmable

INSTALL = "the bench needs more than the product: pip install 'cortex-om[bench]'"


def stems(text: str) -> list[str | None]:
    """The stem of each word, None for a stop word; see `stemmable`. Raises SettingsError without the stemmer."""
    return [word and _stem(word) for word in stemmable(text)]


def telling(text: str) -> frozenset[str]:
    """The stems of a text without stop words."""
    return frozenset(filter(None, stems(text)))


@cache
def _stem(word: str) -> str:
    if Stemmer is None:
        raise SettingsError(INSTALL)
    return str(Stemmer.Stemmer("english").stemWord(word))
