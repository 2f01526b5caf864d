import pytest

from om_api.language.telegraphic import clip, telegraphic, without_lead


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Oh hey, I really need it by noon", "I really need it by noon"),
        ("Well, that was it", "that was it"),
        ("So happy to see you", "So happy to see you"),
        ("Great news: I passed", "Great news: I passed"),
        ("Yes, I will", "Yes, I will"),
        ("No, not before May", "No, not before May"),
        ("And we moved to the US", "we moved to the US"),
        ("but I couldn't", "but I couldn't"),
        ("- 8 PM: light the heater", "8 PM: light the heater"),
        ("-5 degrees", "-5 degrees"),
        ("oh, ", "oh, "),
    ],
)
def test_what_a_sentence_begins_with_goes_where_it_says_nothing(text, short):
    assert without_lead(text) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("I really want the red one instead of the blue one", "red one instead of blue one"),
        ("we moved it from March 3 to March 9", "moved from March 3 to March 9"),
        ("it rounds half up per line, not the contractors", "rounds half up per line not contractors"),
        ("the fee is 2 % for Graz before taxes", "fee 2 % Graz before taxes"),
        ("we deploy on Fridays at 10, never as maps", "deploy on Fridays at 10 never as maps"),
        ("I love it", "love"),
        ("it is what it is", "it is what it is"),
        ("we moved to the US in May and I work in IT", "moved US in May work IT"),
        ("it may be that he is here at 10 AM", "at 10 AM"),
        ('she said "the red one" to me', 'said " red one"'),
        ("run `the thing` now", "run `the thing` now"),
    ],
)
def test_in_telegraphic_style_only_words_that_carry_meaning_stay(text, short):
    assert telegraphic(text) == short


@pytest.mark.parametrize("filler", ["i mean", "ı mean", "İ mean", "BASİCALLY", "pleaſe", "ReaLLy"])
def test_a_filler_is_left_out_however_its_letters_are_written(filler):
    """Breaks when it is looked for in lower case alone: a pattern that ignores case takes more letters for i and s."""
    assert telegraphic(f"blue car {filler} parked") == "blue car parked"


@pytest.mark.parametrize(
    ("text", "size", "short"),
    [
        ("the red one", 20, "the red one"),
        ("we sold the boat, but only after the long winter", 30, "we sold the boat..."),
        ("we sold the boat only after the long winter", 30, "we sold the boat only..."),
        ("x" * 40, 10, "xxxxxxx..."),
    ],
)
def test_a_text_is_cut_where_a_clause_ends_or_between_words(text, size, short):
    assert clip(text, size) == short
