import pytest

from om_api.language.telegraphic import telegraphic


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Oh hey, I really need it by noon", "I need it by noon"),
        ("Short answers please, always", "Short answers, always"),
        ('say "please" twice', 'say "please" twice'),
        ("please", "please"),
    ],
)
def test_fillers_are_left_out(text, short):
    assert telegraphic(text) == short


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
    ],
)
def test_at_the_highest_level_only_words_that_carry_meaning_stay(text, short):
    assert telegraphic(text, 3) == short


@pytest.mark.parametrize("filler", ["i mean", "ı mean", "İ mean", "BASİCALLY", "pleaſe", "ReaLLy"])
def test_a_filler_is_left_out_however_its_letters_are_written(filler):
    """Breaks when it is looked for in lower case alone: a pattern that ignores case takes more letters for i and s."""
    assert telegraphic(f"the blue car {filler} is mine") == "the blue car is mine"


def test_a_quotation_is_shortened_at_the_highest_level_only():
    said = 'she said "the red one" to me'

    assert [telegraphic(said, level) for level in (0, 2)] == [said, said]
    assert telegraphic(said, 3) == 'said " red one"'
