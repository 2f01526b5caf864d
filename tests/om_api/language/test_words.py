import pytest

from om_api.language.words import CHATTER, EMPTY, FIGURES, FUNCTION_WORDS, STOP, amount, bare_words, stem, stems, words


def test_what_belongs_together_is_one_word():
    said = "See src/app.py at 14:30, ada@example.org: it's 3.5% of ORD-4821!"

    assert words(said) == ["see", "src/app.py", "at", "14:30", "ada@example.org", "it's", "3.5%", "of", "ord-4821"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("In May it may rain", ["in", "May", "it", "may", "rain"]),
        ("May I go?", ["may", "i", "go"]),
        ("US tax for us", ["US", "tax", "for", "us"]),
        ("IT IS MINE", ["it", "is", "mine"]),
        ("I am up at 7 AM", ["i", "am", "up", "at", "7", "AM"]),
    ],
)
def test_case_tells_a_name_from_a_little_word(said, found):
    assert words(said) == found


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ("Okafor's sister, James’ car", ["okafor", "sister", "james", "car"]),
        ("I don't", ["i", "don't"]),
        ("3,120 or 3'120 or 12,34", ["3120", "or", "3120", "or", "12", "34"]),
        ("max_loss Anna-Lena", ["max", "loss", "anna", "lena"]),
    ],
)
def test_a_bare_word_is_without_joints_and_possessives(said, bare):
    assert bare_words(said) == bare


def test_every_list_of_empty_words_holds_the_function_words():
    assert FUNCTION_WORDS < STOP
    assert FUNCTION_WORDS < EMPTY
    assert not FUNCTION_WORDS & CHATTER


def test_number_words_are_known_up_to_twenty():
    assert (FIGURES["zero"], FIGURES["twenty"], len(FIGURES)) == ("0", "20", 21)


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (1, ("message",), "1 message"),
        (0, ("message",), "0 messages"),
        (1_204, ("message",), "1,204 messages"),
        (1, ("entry", "entries"), "1 entry"),
        (2, ("entry", "entries"), "2 entries"),
    ],
)
def test_a_number_stands_with_its_noun(number, words, text):
    assert amount(number, *words) == text


@pytest.mark.parametrize(
    ("forms", "shared"),
    [
        ("moving moved moves", "mov"),
        ("notes note noted", "not"),
        ("deployments deployment", "deploy"),
        ("organisation organise", "organi"),
        ("cat cats", "cat"),
        ("bus", "bus"),
        ("thirty", "30"),
        ("dozen twelve", "12"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms, shared):
    assert {stem(form) for form in forms.split()} == {shared}


def test_words_that_carry_nothing_have_no_stem():
    assert stems("It is at a 5 of the os, and Ada's cats agree") == {"5", "ada", "cat", "agre"}
