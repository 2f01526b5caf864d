"""Whether a text speaks, at a place of it, of what lies behind or ahead."""

import pytest

from om_api.language.tense import Tense, tense_at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we met on X", Tense.BEHIND),
        ("on X we met", Tense.BEHIND),
        ("we will meet on X", Tense.AHEAD),
        ("call me on X", Tense.OPEN),
        ("it is scheduled for X", Tense.OPEN),
        ("it must be paid by X", Tense.AHEAD),
        ("she told me that she'll come on X", Tense.AHEAD),
        ("I planned to go on X", Tense.UNSURE),
        ("I bought tickets and we fly on X", Tense.UNSURE),
        ("I would like to go on X", Tense.AHEAD),
        ("as I would expect on X", Tense.UNSURE),
        ("we always met on X", Tense.UNSURE),
        ("in 2019 we met on X", Tense.UNSURE),
        ("I need speed on X", Tense.AHEAD),
        ("I will paint the shed on X", Tense.AHEAD),
        ("I'll fetch the finished parts on X", Tense.AHEAD),
    ],
)
def test_the_nearest_verb_of_the_clause_says_the_tense(text, expected):
    place = text.index("X")

    assert tense_at(text, place, place + 1) is expected
