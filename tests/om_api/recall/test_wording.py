"""Words whole and in their parts."""

from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.recall.wording import lone_characters, pieces, plain, words_of


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("user_id", ("user_id", "user", "id")),
        ("ABC-123", ("abc-123", "abc", "123")),
        ("src/app.py", ("src/app.py", "src", "app.py", "app", "py")),
        ("getUserName", ("getusername", "get", "user", "name")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("v2.3.1", ("v2.3.1", "2.3.1", "v2", "3", "1")),
        ("2025-03-14", ("2025-03-14", "2025", "03", "14")),
        ("3,120", ("3120",)),
        ("3120", ("3120",)),
        ("1,234,567.50", ("1234567.50", "1234567", "50")),
        ("Anna's", ("anna",)),
        ("Anna’s", ("anna",)),
        ("don't", ("dont",)),
        ("O'Brien", ("obrien", "o", "brien")),
        ("l'homme", ("l", "homme")),
        ("a.b@example.com", ("a.b@example.com", "a.b", "a", "b", "example.com", "example", "com")),
        ("C++", ("c++", "c")),
        ("C#", ("c#", "c")),
        ("飲み水", ("飲み", "み水")),
        ("水", ("水",)),
        ("학교에", ("학교", "교에")),
        ("ＡＢＣ", ("abc",)),
        ("ﬁne", ("fine",)),
        ("👍", ("👍",)),
    ],
)
def test_a_word_is_kept_whole_and_in_its_parts(word, expected):
    assert [word] == words_of(word)
    assert expected == pieces(word)


def test_marks_around_words_are_no_part_of_them():
    assert words_of('"He said: yes, (twice) -- in app.py."') == ["He", "said", "yes", "twice", "in", "app.py"]


def test_vowel_signs_belong_to_their_words():
    assert words_of("हिन्दी में।") == ["हिन्दी", "में"]


def test_a_long_word_is_one_short_term():
    long = "x" * 5_000

    assert len(pieces(long)[0]) < 64
    assert pieces(long) != pieces(long + "x")


DATA = sha256(b"0").digest() + bytes(range(256)) * 8


@pytest.mark.parametrize(
    "data", [b64encode(DATA).rstrip(b"=").decode(), urlsafe_b64encode(DATA).rstrip(b"=").decode(), DATA.hex()]
)
@pytest.mark.parametrize("length", [200, 201, 2_000])
def test_data_are_one_word_without_parts(data, length):
    """Breaks without: an image in a tool's arguments was hundreds of words, each two or three letters long."""
    blob = data[:length]

    assert words_of(f'{{"image": "{blob}=="}}') == ["image", blob]
    assert len(pieces(blob)) == 1
    assert pieces(blob) != pieces(blob[:-1] + "x")
    assert len(pieces(blob[:150] + ".png")) > 1


@pytest.mark.parametrize(
    "word",
    [
        "src/main/Java2/" + "/".join(f"folder{n}" for n in range(40)),
        "-".join(["The", "2nd", "Title", *["of", "many", "words"] * 20]),
        "_".join(["a", "snake", "Case", "7"] * 30),
        "ThisIsNoBlobButSomebodyWhoLikesCamels" * 6,
        "https://example.com/" + "aB3" * 80,
    ],
)
def test_what_is_long_and_no_data_keeps_its_parts(word):
    assert words_of(word) == [word]
    assert len(pieces(word)) > 3


def test_phrases_are_compared_without_marks_case_and_diacritics():
    assert plain("NO! Ich, «Müll's»".replace("'s", " s")) == " no ich mull s "
    assert plain("飲み水ABC") == " 飲 み 水 abc "


@given(st.text(max_size=200))
def test_any_text_has_words_that_have_pieces_without_white_space_of_lines(text):
    for word in words_of(text):
        assert word in text
        assert pieces(word)
        assert not any("\n" in piece or not piece for piece in pieces(word))


def test_lone_characters_of_japanese_are_told():
    assert lone_characters("猫の薬") == ["猫", "薬"]
    assert lone_characters("自転車を買う") == ["買"]
    assert lone_characters("北京") == []
    assert lone_characters("cat") == []
