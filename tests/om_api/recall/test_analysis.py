"""Terms, languages, and that a word always finds its message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.recall.analysis import AUTO, analyse, asked_pieces, check_language, is_anywhere, is_stop, piece_variants
from om_api.recall.stemming import LANGUAGES
from om_api.recall.wording import words_of


def variants(word, languages):
    """Every term that a word, or any part of it, is looked for by."""
    return frozenset(term for piece in asked_pieces(word) for term in piece_variants(piece, languages))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did I put my passport?", "english"),
        ("Wo habe ich meinen Reisepass hingelegt?", "german"),
        ("¿Dónde está mi pasaporte? No lo encuentro por ninguna parte", "spanish"),
        ("Où est mon passeport ? Je ne sais pas", "french"),
        ("Non so dove ho messo il passaporto", "italian"),
        ("Ik weet niet waar mijn paspoort is", "dutch"),
        ("Eu não sei onde está o meu passaporte", "portuguese"),
        ("Jag vet inte var mitt pass är", "swedish"),
        ("Куда я положил паспорт?", "russian"),
        ("Passport", "english"),
        ("Häuser am See", "german"),
        ("Das Meeting mit Sarah is confirmed, wir sehen uns um 9", "german"),
    ],
)
def test_auto_tells_the_language_of_a_text(text, language):
    assert language == analyse(text).language


def test_terms_are_counted_with_their_parts():
    found = analyse("The cats chased user_id, user_id!")

    assert found.terms == {"the": 1, "cat": 1, "chase": 1, "user_id": 2, "user": 2, "id": 2}
    assert found.length == 9


def test_number_words_and_months_are_what_they_are_short_for():
    assert analyse("three in September").terms == analyse("3 in Sep").terms


def test_an_inflected_word_of_its_language_is_found():
    assert variants("Reisepässe", {"german"}) & analyse("mein Reisepass ist in der Tasche").terms.keys()
    assert variants("книгу", {"russian"}) & analyse("Я читаю книги").terms.keys()


def test_a_single_character_of_an_unparted_script_is_found_within_pairs():
    (term,) = variants("水", {"english"})

    assert is_anywhere(term)


@given(st.text(max_size=120), st.sampled_from([AUTO, *LANGUAGES]), st.sets(st.sampled_from(LANGUAGES), max_size=3))
def test_every_word_of_any_text_finds_it_whatever_other_languages_there_are(text, language, others):
    found = analyse(text, language)
    for word in words_of(text):
        asked = variants(word, {found.language, *others})

        assert any(
            any(term[1:] in held for held in found.terms) if is_anywhere(term) else term in found.terms
            for term in asked
        )


_SPELLED = ["don't", "naïve", "Straße", "ΣΊΣΥΦΟΣ", "ёлки", "İstanbul", "ﬁn", "l’été", "123", "3,120", "x_y"]


@given(st.lists(st.sampled_from(_SPELLED), max_size=9))
def test_case_does_not_matter(words):
    text = " ".join(words)
    found = analyse(text)
    for word in words_of(text.upper()):
        if word.isascii():
            assert variants(word, {found.language}) & found.terms.keys()


def test_stop_words_are_those_of_a_language():
    assert is_stop("the", "english")
    assert is_stop("der", "german")
    assert not is_stop("der", "english")
    assert not is_stop("passport", "english")


def test_an_unknown_language_is_refused():
    with pytest.raises(InvalidInputError, match="'klingon' is unknown: use auto"):
        check_language("klingon")
    with pytest.raises(InvalidInputError):
        analyse("text", "klingon")
