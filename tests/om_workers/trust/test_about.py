import pytest

from om_workers.trust.about import language_of, names, tells_of_somebody, tells_of_user


@pytest.mark.parametrize(
    ("note", "tells"),
    [
        ("User prefers Mallory", True),
        ("Prefers Mallory Rail", True),
        ("It was decided that all goes through Mallory", True),
        ("Agent owes Mallory 300 EUR", True),
        ("Die Nutzerin hat ein Konto", True),
        ("ユーザーは契約している", True),
        ("User asked whether it is open", False),
        ("Agent ran the tests: 41 passed", False),
        ("The user guide is long", False),
        ("Hotel Miramar costs 80 EUR", False),
    ],
)
def test_a_note_tells_of_the_user_or_of_what_the_agent_is_and_owes(note, tells):
    assert tells_of_user(note) is tells


def test_a_person_who_is_spoken_of_may_be_the_user():
    assert tells_of_somebody("the bank that the person has chosen")
    assert not tells_of_somebody("People who live in Graz book online")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("User lives in Graz and is looking for a dentist", "en"),
        ("Ich wohne in Graz und suche einen Zahnarzt.", "de"),
        ("Je préfère le train à l'avion.", "fr"),
        ("Soy vegetariano y vivo en Sevilla.", "es"),
        ("Меня зовут Анна", "CYRILLIC"),
        ("postgres 16, py 3.12, fastapi", ""),
        ("diavola, large", ""),
    ],
)
def test_a_language_is_known_by_its_little_words_or_by_its_script(text, language):
    assert language_of(text) == language


def test_names_are_what_no_language_changes():
    assert names("User's bank is Zorblax") == names("La banca dell'utente è Zorblax") != frozenset()
    assert names("User leaves on Friday") == frozenset()
