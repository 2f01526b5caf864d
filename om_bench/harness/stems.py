"""Stems by Snowball, which the bench compares words by."""

import re
from functools import cache

try:
    import Stemmer
except ImportError:  # the extra `bench` is not installed
    Stemmer = None

from om_api.domain.errors import SettingsError
from om_api.language.calendar import MONTHS
from om_api.language.words import FIGURES, FUNCTION_WORDS, word_set

INSTALL = "the bench needs more than the product: pip install 'cortex-om[bench]'"
UNPARTED = r"\u0e00-\u0e7f\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # of a pattern: Thai, Japanese, Chinese, Korean
_WORD = re.compile(rf"([{UNPARTED}]+|[^\W_{UNPARTED}]+)(?:'(?:[dmst]|ll|re|ve)(?![^\W_]))?", re.IGNORECASE)
_UNPARTED = re.compile(rf"[{UNPARTED}]")
_BY_CASE = {"May": "may", "AM": "am", "US": "us", "IT": "it"}  # small, they are stop words
_SAME = FIGURES | {month.lower(): month[:3].lower() for month in MONTHS} | {"sept": "sep"}
_STOP = FUNCTION_WORDS | word_set(
    """again all aren both d didn doesn don done down from having just ll m more most must no not off other over re s
    same shall t ve wasn whom whose yes"""
)


def stems(text: str) -> list[str | None]:
    """The stem of each word, None for a stop word; number words are figures, months their first three letters.

    What is written without blanks is told by two signs at a time.
    Case decides: "May" is a month, "AM" half of a day, "US" a country and "IT" a trade; written small they are stop words.
    Raises SettingsError without the stemmer.
    """
    found = (word for run in _WORD.findall(text.replace("’", "'")) for word in _parted(run))
    return [_BY_CASE.get(word) or _stem_of(word.lower()) for word in found]


def _parted(run: str) -> list[str]:
    """Two signs each of what is written without blanks."""
    return [run[place : place + 2] for place in range(max(1, len(run) - 1))] if _UNPARTED.match(run) else [run]


def _stem_of(word: str) -> str | None:
    return None if word in _STOP else _stem(_SAME.get(word, word))


def telling(text: str) -> frozenset[str]:
    """The stems of a text without stop words."""
    return frozenset(filter(None, stems(text)))


@cache
def _stem(word: str) -> str:
    if Stemmer is None:
        raise SettingsError(INSTALL)
    return str(Stemmer.Stemmer("english").stemWord(word))
