"""The words that were looked for, marked in a text that stays whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.web.pages.marking import Marked, marked


@pytest.mark.parametrize(
    ("text", "matched", "found"),
    [
        ("", ["a"], []),
        ("nothing here", [], [("nothing here", False)]),
        ("My Passport lies here", ["passport"], [("My ", False), ("Passport", True), (" lies here", False)]),
        ("two parcels", ["parcel"], [("two ", False), ("parcels", True)]),
        ("the blue drawer", ["blue drawer"], [("the ", False), ("blue", True), (" ", False), ("drawer", True)]),
        ("<b>bold</b>", ["bold"], [("<b>", False), ("bold", True), ("</b>", False)]),
    ],
)
def test_words_of_one_stem_are_marked_wherever_they_stand(text, matched, found):
    assert marked(text, matched) == [Marked(*each) for each in found]


@given(st.text(), st.lists(st.text(max_size=5), max_size=3))
def test_the_stretches_are_all_of_the_text(text, matched):
    assert "".join(each.text for each in marked(text, matched)) == text
