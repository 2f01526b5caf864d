"""Analysis of a text: which language it is in, and the terms it is found by. Client and worker share it, with its version."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from om_api.domain.errors import InvalidInputError
from om_api.language.calendar import MONTHS
from om_api.language.words import FIGURES
from om_api.recall.function_words import ALSO_LITTLE, LITTLE_WORDS
from om_api.recall.irregular import REGULAR
from om_api.recall.stemming import LANGUAGES, fold, script_language, stems
from om_api.recall.wording import is_spelled, is_unparted, lone_characters, pieces, words_of

VERSION = (
    3  # of the terms and of what is indexed, so of Snowball's stems too: what was made by another one is made anew
)
AUTO = "auto"
USUAL = "english"
_REMEMBERED, _LONG_REMEMBERED, _LONG, _LONGEST = 4_096, 64, 4_000, 250_000  # texts, and their characters
_WORDS = 50_000  # that are remembered of each language
_LONGEST_WORD = 64
_SAME = REGULAR | FIGURES | {month.lower(): month[:3].lower() for month in MONTHS} | {"sept": "sep"}
_ANYWHERE = "*"  # stands in no term


class Analysis(NamedTuple):
    """What a text is found by: its language, how often it has each term, and how many terms it has in all."""

    language: str
    terms: Counter[str]
    length: int


def analyse(text: str, language: str = AUTO) -> Analysis:
    """Read a text in a language of Snowball's, by its English name; `auto` asks the text. What was read is remembered.

    The same object comes back for the same text: it is not to be changed. Raises InvalidInputError for an unknown language.
    """
    if len(text) <= _LONG:
        return _remembered(text, language)
    return _remembered_long(text, language) if len(text) <= _LONGEST else _analyse(text, language)


def terms_of(text: str, language: str = AUTO) -> tuple[str, list[str]]:
    """The language of a text and its terms one after the other; nothing is remembered. Raises as `analyse` does."""
    words = words_of(text)
    read = language_of(words, text) if language == AUTO else language
    return read, list(chain.from_iterable(map(_terms_in(read).__getitem__, words)))


def _analyse(text: str, language: str) -> Analysis:
    read, terms = terms_of(text, language)
    return Analysis(read, Counter(terms), len(terms))


_remembered = lru_cache(maxsize=_REMEMBERED)(_analyse)
_remembered_long = lru_cache(maxsize=_LONG_REMEMBERED)(_analyse)


def check_language(language: str) -> str:
    """The language, or InvalidInputError that names those there are."""
    if language not in {AUTO, *LANGUAGES}:
        raise InvalidInputError(f"language {language[:40]!r} is unknown: use {AUTO}, {', '.join(sorted(LANGUAGES))}")
    return language


def language_of(words: Iterable[str], text: str = "") -> str:
    """The language whose little words most of `words` are; without any that of the script, or English."""
    met = _VOTES.keys() & set(words)
    plain = text.isascii()
    if plain and _SURELY * len(met - _ENGLISH) <= len(met) > 0:  # spares the counting
        return USUAL
    if met:
        votes = Counter(chain.from_iterable(map(_VOTES.__getitem__, met)))
        most = max(votes.values())
        best = [name for name in LITTLE_WORDS if votes[name] == most]
        return best[1] if best[0] == USUAL and len(best) > 1 and _ACCENT.search(text) else best[0]
    return script_language(text) or USUAL


def _votes() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, little in LITTLE_WORDS.items():
        for word in little:
            for form in {word, word.capitalize()}:
                found[form] = (*found.get(form, ()), name)
    return found


_VOTES = _votes()
_ENGLISH = frozenset(word for word, languages in _VOTES.items() if USUAL in languages)
_ACCENT = re.compile("[à-öø-ÿß]", re.IGNORECASE)  # of two languages that tie it is not English
_SURELY = 4  # a text is English if that many times the others are no more than all


def forms(piece: str, language: str) -> Collection[str]:
    """The terms that one piece of a word is kept by in a language."""
    if is_spelled(piece):
        return stems(_SAME.get(piece, piece) if language == USUAL else piece, language)
    return (fold(piece),)


class _Terms(dict[str, tuple[str, ...]]):
    """Words as they stand in texts -> their terms in one language; forgets all when there are too many."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(term for piece in pieces(word) for term in forms(piece, self._language)))
        if len(self) >= _WORDS:
            self.clear()
        if len(word) <= _LONGEST_WORD:
            self[word] = found
        return found


_known: dict[str, _Terms] = {}


def _terms_in(language: str) -> _Terms:
    if language not in _known:
        _known[check_language(language)] = _Terms(language)
    return _known[language]


def asked_pieces(text: str) -> list[str]:
    """The pieces of all words of a text, as they are searched for; one that is whole stands before its parts.

    A character of Chinese that stands alone within Japanese is one too: its pairs with endings say little.
    """
    words = dict.fromkeys(words_of(text))
    return list(dict.fromkeys(piece for word in words for piece in (*pieces(word), *lone_characters(word))))


def piece_variants(piece: str, languages: Iterable[str]) -> frozenset[str]:
    """Every term that one piece would have become in a text of one of the languages.

    A single character of an unparted script is found within its pairs: its term is one that `is_anywhere`.
    """
    if len(piece) == 1 and is_unparted(piece):
        return frozenset({f"{_ANYWHERE}{fold(piece)}"})
    return frozenset(term for language in {*languages, USUAL} for term in forms(piece, language))


def is_anywhere(term: str) -> bool:
    """Whether a term stands for all terms that hold the character behind its star."""
    return term.startswith(_ANYWHERE)


def is_stop(word: str, language: str) -> bool:
    """Whether a word in lower case is one of those that carry nothing in a language."""
    return word in LITTLE_WORDS.get(language, ()) or word in ALSO_LITTLE.get(language, ())
