from __future__ import annotations

import pytest

from om_api.language.stems import stem, stemmable, stems


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


def test_a_stemmer_is_given_figures_for_numbers_and_months_in_three_letters():
    assert stemmable("Two dogs' owner’s trip in September, don't") == ["2", "dogs", "owner", "trip", None, "sep", None]
