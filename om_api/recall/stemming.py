"""Stems by Snowball of a word in lower case, and which of its languages reads which script."""

import re
from collections.abc import Collection
from threading import Lock

import Stemmer

from om_api.domain.texts.normal_forms import normalize

LATIN = (
    *("english", "german", "french", "spanish", "italian", "portuguese", "dutch", "danish", "norwegian", "swedish"),
    *("finnish", "hungarian", "romanian", "turkish", "indonesian", "catalan", "basque", "esperanto", "estonian"),
    *("irish", "lithuanian", "serbian"),
)
_OF_SCRIPT = {  # the language that reads a script unless another one was named
    "cyrillic": ("Ѐ-ԯ", ("russian", "serbian")),
    "greek": ("Ͱ-Ͽἀ-῿", ("greek",)),
    "arabic": ("؀-ۿݐ-ݿ", ("arabic",)),
    "devanagari": ("ऀ-ॿ", ("hindi", "nepali")),
    "tamil": ("஀-௿", ("tamil",)),
    "armenian": ("԰-֏", ("armenian",)),
    "hebrew": ("֐-׿", ("yiddish",)),
}
OTHERS = tuple(dict.fromkeys(name for _, names in _OF_SCRIPT.values() for name in names if name not in LATIN))
LANGUAGES = (*LATIN, *OTHERS)
_LETTERS = re.compile("|".join(f"(?P<{script}>[{letters}])" for script, (letters, _) in _OF_SCRIPT.items()))
# й is a letter of its own; dots and strokes of other scripts are letters too
_MARKS = re.compile("[\u0300-\u0305\u0307-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]|(?<!и)\u0306")
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ſ": "s"})
_stemmers = {name: Stemmer.Stemmer(name, 0) for name in LANGUAGES}
_lock = Lock()  # one stemmer must not be asked by two threads at once


def fold(word: str) -> str:
    """The word without its diacritics: `uber` for `über`, `strasse` for `straße`; marks that are vowels stay."""
    if word.isascii():
        return word
    return normalize("NFC", _MARKS.sub("", normalize("NFD", word))).translate(_PLAIN)


def script_language(text: str) -> str | None:
    """The language by which the first letter beyond Latin is read; None if there is none, or no stemmer for it."""
    found = None if text.isascii() else _LETTERS.search(text)
    return _OF_SCRIPT[str(found.lastgroup)][1][0] if found else None


def stems(word: str, language: str) -> Collection[str]:
    """What a word in lower case is kept by: its stem without diacritics, and the one of how it is typed without them.

    A word of another script than its text's language is read by the usual language of its script.
    """
    name = _reader(word, language)
    if word.isascii():
        return (_stem(word, name),)
    return dict.fromkeys((fold(_stem(word, name)), _stem(fold(word), name)))


def _reader(word: str, language: str) -> str:
    found = None if word.isascii() else _LETTERS.search(word)
    if found:
        names = _OF_SCRIPT[str(found.lastgroup)][1]
        return language if language in names else names[0]
    return language if language in LATIN else "english"


def _stem(word: str, language: str) -> str:
    with _lock:
        return str(_stemmers[language].stemWord(word)) or word
