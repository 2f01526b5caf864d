"""Stems and scripts."""

from binascii import crc32

import pytest

from om_api.recall.analysis import VERSION
from om_api.recall.stemming import LANGUAGES, fold, script_language, stems


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("über", "uber"),
        ("straße", "straße"),
        ("søster", "soster"),
        ("ёлка", "елка"),
        ("йод", "йод"),
        ("naïve", "naive"),
    ],
)
def test_diacritics_go_and_letters_stay(word, folded):
    assert folded == fold(word)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("passports", "passport", "english"),
        ("häuser", "haus", "german"),
        ("habitaciones", "habitacion", "spanish"),
        ("книги", "книга", "russian"),
    ],
)
def test_inflected_words_share_a_stem(one, other, language):
    assert set(stems(one, language)) & set(stems(other, language))


@pytest.mark.parametrize(("typed", "written"), [("uber", "über"), ("habitacion", "habitación"), ("cafe", "café")])
def test_a_word_typed_without_its_diacritics_meets_it(typed, written):
    for language in ("english", "german", "spanish", "french"):
        assert set(stems(typed, language)) <= set(stems(written, language))


def test_a_word_of_another_script_is_read_by_its_own_language():
    assert list(stems("книги", "russian")) == list(stems("книги", "english"))
    assert list(stems("walking", "english")) == list(stems("walking", "russian"))


@pytest.mark.parametrize(
    ("text", "language"),
    [("Привет", "russian"), ("γεια", "greek"), ("مرحبا", "arabic"), ("नमस्ते", "hindi"), ("hello", None), ("水", None)],
)
def test_a_script_tells_its_usual_language(text, language):
    assert language == script_language(text)


def test_every_language_stems():
    assert all(stems("internationalisation", language) for language in LANGUAGES)


def test_what_snowball_makes_of_words_is_what_segments_of_this_version_hold():
    """Another Snowball may stem otherwise. Raise VERSION then, and the oldest PyStemmer in pyproject.toml, and note it here."""
    words = [
        "organisation",
        "mueller",
        "häuser",
        "nacionalidades",
        "continuellement",
        "velocemente",
        "книгами",
        "παιδιά",
        "كتابات",
        "किताबों",
    ]
    made = "\n".join(stem for language in LANGUAGES for word in words for stem in stems(word, language))

    assert (VERSION, crc32(made.encode())) == (2, 3_913_359_721)
