"""Terms, languages, and that a word always finds its message."""

from base64 import b64encode, urlsafe_b64encode
from binascii import crc32
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.recall.analysis import AUTO, VERSION, analyse, asked_pieces, check_language, is_anywhere, piece_variants
from om_api.recall.stemming import LANGUAGES, stems
from om_api.recall.wording import pieces, plain, words_of


def variants(word, languages):
    """Every term that a word, or any part of it, is looked for by."""
    return frozenset(term for piece in asked_pieces(word) for term in piece_variants(piece, languages))


def test_auto_tells_the_language_of_a_text():
    for text, language in [
        ("Where did I put my passport?", "english"), ("Wo habe ich meinen Reisepass hingelegt?", "german"),
        ("¿Dónde está mi pasaporte? No lo encuentro por ninguna parte", "spanish"),
        ("Où est mon passeport ? Je ne sais pas", "french"), ("Куда я положил паспорт?", "russian"),
        ("Das Meeting mit Sarah is confirmed, wir sehen uns um 9", "german"),
    ]:  # fmt: skip
        assert language == analyse(text).language, text


def test_an_inflected_word_of_its_language_is_found():
    assert analyse("she bought three").terms == analyse("she buys 3").terms
    assert variants("Reisepässe", {"german"}) & analyse("mein Reisepass ist in der Tasche").terms.keys()
    assert variants("книгу", {"russian"}) & analyse("Я читаю книги").terms.keys()


@settings(max_examples=40)
@given(st.text(max_size=120), st.sampled_from([AUTO, *LANGUAGES]), st.sets(st.sampled_from(LANGUAGES), max_size=3))
def test_every_word_of_any_text_finds_it_whatever_other_languages_there_are(text, language, others):
    found = analyse(text, language)
    for word in words_of(text):
        asked = variants(word, {found.language, *others})
        assert any(
            any(term[1:] in held for held in found.terms) if is_anywhere(term) else term in found.terms
            for term in asked
        )


def test_an_unknown_language_is_refused():
    with pytest.raises(InvalidInputError, match="'klingon' is unknown: use auto"):
        check_language("klingon")
    with pytest.raises(InvalidInputError):
        analyse("text", "klingon")


def test_a_word_typed_without_its_diacritics_meets_it():
    for typed, written in [("uber", "über"), ("habitacion", "habitación"), ("cafe", "café")]:
        for language in ("english", "german", "spanish", "french"):
            assert set(stems(typed, language)) <= set(stems(written, language)), typed


def test_what_snowball_makes_of_words_is_what_segments_of_this_version_hold():
    """Another Snowball may stem otherwise. Raise VERSION then, and the oldest PyStemmer in pyproject.toml, and note it here."""
    words = [
        "organisation", "mueller", "häuser", "nacionalidades", "continuellement", "velocemente", "книгами", "παιδιά",
        "كتابات", "किताबों",
    ]  # fmt: skip
    made = "\n".join(stem for language in LANGUAGES for word in words for stem in stems(word, language))

    assert (VERSION, crc32(made.encode())) == (3, 3_913_359_721)


def test_a_word_is_kept_whole_and_in_its_parts():
    for word, expected in [
        ("user_id", ("user_id", "user", "id")), ("src/app.py", ("src/app.py", "src", "app.py", "app", "py")),
        ("getUserName", ("getusername", "get", "user", "name")), ("HTTPServer", ("httpserver", "http", "server")),
        ("Anna's", ("anna",)), ("don't", ("dont",)), ("O'Brien", ("obrien", "o", "brien")),
        ("a.b@example.com", ("a.b@example.com", "a.b", "a", "b", "example.com", "example", "com")),
        ("ＡＢＣ", ("abc",)),
    ]:  # fmt: skip
        assert [word] == words_of(word), word
        assert expected == pieces(word), word


DATA = sha256(b"0").digest() + bytes(range(256)) * 8


def test_data_are_one_word_without_parts_and_a_long_word_is_one_short_term():
    """Breaks without: an image in a tool's arguments was hundreds of words, each two or three letters long."""
    for data in [b64encode(DATA).rstrip(b"=").decode(), urlsafe_b64encode(DATA).rstrip(b"=").decode(), DATA.hex()]:
        for length in (200, 201):
            blob = data[:length]
            assert words_of(f'{{"image": "{blob}=="}}') == ["image", blob], (data, length)
            assert len(pieces(blob)) == 1, (data, length)
            assert pieces(blob) != pieces(blob[:-1] + "x"), (data, length)
            assert len(pieces(blob[:150] + ".png")) > 1, (data, length)
    long = "x" * 5_000
    assert len(pieces(long)[0]) < 64
    assert pieces(long) != pieces(long + "x")


def test_phrases_are_compared_without_marks_case_and_diacritics():
    assert plain("NO! Ich, «Müll's»".replace("'s", " s")) == " no ich mull s "
    assert plain("飲み水ABC") == " 飲 み 水 abc "
