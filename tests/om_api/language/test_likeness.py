"""likeness: a line tells what was said if half of its words do, or half of a sentence's; what every line has proves nothing."""

import pytest

from om_api.language.likeness import Likeness

NOTES = [
    "* 🔴 (14:30) User's sister Mira moves to Graz in March",
    "* 🟡 (14:31) User asked for the weather in Graz",
    "* 🟢 (14:32) User thanked the assistant",
    "* 🟡 User prefers trains over planes, and the door code at work is 4711 since Monday",
]


@pytest.mark.parametrize(
    ("said", "carried"),
    [
        ("My sister Mira is moving to Graz in March!", {0}),
        ("The door code is 4711.", {3}),
        ("What is the weather like in Graz?", {1}),
        ("Nothing of that kind was ever noted of penguins.", set()),
        ("Hi. The door code is 4711. Bye.", {3}),
        ("", set()),
        ("Thank you", {2}),
    ],
)
def test_which_lines_tell_what_was_said(said, carried):
    like = Likeness([said], NOTES)

    assert {at for at, line in enumerate(NOTES) if like.carries(line)} == carried


def test_a_single_word_is_found_only_where_it_is_all_that_was_said():
    like = Likeness(["Samarkand"], ["Samarkand", "a long line about Samarkand and other distant old cities"])

    assert like.carries("We left for Samarkand")
    assert not Likeness(["weather forecast tomorrow morning"], NOTES).carries("* the morning train was late again")
