"""Stems: what two spellings of a word have in common."""

from __future__ import annotations

import re
from functools import cache

try:
    import Stemmer
except ImportError:  # the extra `bench` is not installed
    Stemmer = None

from om_api.errors import SettingsError

INSTALL = "the bench needs more than the product: pip install 'observational-memory[bench]'"
_WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?")


def _listed(text: str) -> list[str]:
    return text.split()


_MONTHS = _listed("january february march april may june july august september october november december")
_NUMBERS = _listed(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty"""
)
_SAME = (
    {word: str(number) for number, word in enumerate(_NUMBERS)}
    | {month: month[:3] for month in _MONTHS}
    | {"sept": "sep"}
)
_STOP = frozenset(
    _listed(
        """a about again all also am an and any are aren as at be been being both but by can could d did didn do does doesn
        doing don done down each for from had has have having he her here him his how i if in into is it its just ll m may
        me might more most must my no not of off on or other our out over own re s same shall she should so some such t than
        that the their them then there these they this those to too up us ve very was wasn we were what when where which
        while who whom whose why will with would yes you your"""
    )
)


def stems(text: str) -> list[str | None]:
    """The Snowball stem of each word, None for a stop word; number words are figures, months their three letters.

    Raises SettingsError when the stemmer is not installed.
    """
    return [_stem(word) for word in _WORD.findall(text.replace("’", "'").lower())]


def telling(text: str) -> frozenset[str]:
    """The stems of a text without stop words."""
    return frozenset(stem for stem in stems(text) if stem)


@cache
def _stem(word: str) -> str | None:
    if Stemmer is None:
        raise SettingsError(INSTALL)
    word = word.split("'", maxsplit=1)[0]
    if not word or word in _STOP:
        return None
    word = _SAME.get(word, word)
    return str(Stemmer.Stemmer("english").stemWord(word))
