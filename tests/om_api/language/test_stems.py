from __future__ import annotations

import pytest

from om_api.language.stems import stem, stems


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
