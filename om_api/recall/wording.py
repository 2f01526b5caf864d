"""The words of a text as they are searched for: whole and in their parts, whatever the script."""

import re
from binascii import crc32
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from om_api.domain.texts.normal_forms import normalize
from om_api.language.words import word_set
from om_api.recall.stemming import fold

# scripts that are written without blanks, and Korean, whose endings are written on: indexed by pairs of characters
_UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_JOINT = r"-_./:@'’ʼ&+#\\~"
# few words go on behind their first part: one look tells
_JOINED = rf"(?:(?=[{_JOINT},])(?:(?:[{_JOINT}]{{{{1,3}}}}|(?<=\d),(?=\d{{{{3}}}}(?!\d))){{0}})*(?:\+\+|\#(?!\w))?)?"
_LETTERS = rf"[^\W_{_UNPARTED}]"
_PART, _ASCII_PART = rf"{_LETTERS}++(?:[{_MARKS}]++{_LETTERS}*+)*", "[A-Za-z0-9]++"
_TOKEN = re.compile(rf"[{_UNPARTED}]++|{_PART}{_JOINED.format(_PART)}|[{_EMOJI}]")
_ASCII_TOKEN = re.compile(rf"{_ASCII_PART}{_JOINED.format(_ASCII_PART)}")
_KANA, _HAN = "\u3041-\u30fa\u30fc-\u30ff", "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LONE = re.compile(rf"(?:(?<=[{_KANA}])[{_HAN}](?![{_HAN}])|(?<![{_HAN}])[{_HAN}](?=[{_KANA}]))")
_ALONE = re.compile(f"[{_UNPARTED}]")
_VERSION = re.compile(r"[vV]\d")
_MIXED = re.compile(r"[\d_./:@'&+#\\~,-]")
_GROUPING = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHE = re.compile(r"['’ʼ]")
_ENDINGS = frozenset({"s", "ll", "re", "ve", "d", "m"})  # of English words: they tell nothing
_ELIDED = word_set("l d j m n s t c qu jusqu lorsqu puisqu dell nell all sull dall un")
_OUTER, _INNER = re.compile(r"[/\\@:~&#]+"), re.compile(r"[-_.+,]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# data in hexadecimal, or in base64: with figures, letters of both cases, and a longer part than paths and names have
_BLOB = re.compile(
    r"""(?x)[0-9a-fA-F]{200,}
    |(?=\D*\d)(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=.{0,500}[A-Za-z0-9]{30})(?:[A-Za-z0-9+/]{200,}|[A-Za-z0-9_-]{200,})"""
)
_LONGEST: Final = 64  # characters of a term; a longer word is its beginning and a check of the whole
_BEGINNING: Final = 40


def words_of(text: str) -> list[str]:
    """The words of a text as they stand in it: identifiers, paths and numbers whole, of unparted scripts whole runs."""
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def spans_of(text: str) -> Iterator[tuple[int, int, str]]:
    """The same words with where they begin and end."""
    return (
        (found.start(), found.end(), found[0]) for found in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text)
    )


def is_unparted(word: str) -> bool:
    """Whether a word is a run of a script that is indexed by pairs of characters."""
    return not word.isascii() and _ALONE.match(word) is not None


def lone_characters(word: str) -> list[str]:
    """The Chinese characters of a Japanese run that stand between endings: 猫 and 薬 of 猫の薬."""
    return [] if word.isascii() else _LONE.findall(word)


def is_spelled(piece: str) -> bool:
    """Whether a piece is a word of letters alone, which has a stem."""
    return _MIXED.search(piece) is None and not is_unparted(piece)


def pieces(word: str) -> tuple[str, ...]:
    """What a word is indexed by before its language is asked, in lower case: the whole first, then its parts.

    `user_id` is also `user` and `id`, `src/app.py` also `src`, `app.py`, `app` and `py`, `camelCase` also `camel` and
    `case`; `3,120` is `3120`, `Anna's` is `anna`; a run of an unparted script is its pairs of characters. Data in base64
    or hexadecimal have no parts.
    """
    if len(word) <= _LONGEST:
        return _short_pieces(word)
    return (_term(word),) if _BLOB.fullmatch(word) else tuple(dict.fromkeys(_pieces(word)))


@lru_cache(maxsize=4_096)
def _short_pieces(word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_pieces(word)))


def _pieces(word: str) -> Iterator[str]:
    if not word.isascii():
        if (normal := normalize("NFKC", word)) != word:
            inner = [piece for part in words_of(normal) for piece in _pieces(part)]
            yield from inner or [_term(word)]
            return
        if is_unparted(word):
            yield from (word[at : at + 2] for at in range(max(len(word) - 1, 1)))
            return
    if word.isalpha() and word[1:].islower():  # nearly all of them
        yield _term(word)
        return
    yield from _parted(word)


def _parted(word: str) -> Iterator[str]:
    """The whole, then what stands between the stronger marks, then between the weaker ones, then the humps of a camel."""
    word = _GROUPING.sub("", word)
    yield from _whole(word)
    if _VERSION.match(word):
        yield _term(word[1:])
    for outer in filter(None, _OUTER.split(word)):
        yield from _whole(outer)
        for inner in filter(None, _INNER.split(outer.replace("’", "'").replace("ʼ", "'"))):
            yield from _whole(inner)
            humps = _HUMP.split(inner)
            yield from (_term(hump) for hump in humps if len(humps) > 1 and len(hump) > 1)


def _whole(word: str) -> Iterator[str]:
    """A word with its apostrophes taken out: `Anna's` is `anna`, `O'Brien` also its parts, `l'homme` only its parts."""
    head, *tails = _APOSTROPHE.split(word)
    if not tails or not head:
        yield _term(word.replace("'", ""))
        return
    tail = tails[-1].casefold()
    if len(tails) == 1 and tail in _ENDINGS:
        yield _term(head)
        return
    if head.casefold() not in _ELIDED:
        yield _term("".join([head, *tails]))
    if tail != "t":
        yield from (_term(part) for part in (head, *tails) if part)


def _term(word: str) -> str:
    low = word.casefold()
    return low if len(low) <= _LONGEST else f"{low[:_BEGINNING]}~{crc32(low.encode()):08x}"


def plain(text: str) -> str:
    """The words of a text in lower case without diacritics, a blank between them and around all: how phrases are compared."""
    return f" {' '.join(_plain_words(text))} "


def _plain_words(text: str) -> Iterator[str]:
    for word in words_of(normalize("NFKC", text)):
        if is_unparted(word):
            yield from word
        else:
            yield fold(_GROUPING.sub("", word).replace("’", "'").casefold())
