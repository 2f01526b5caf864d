"""What others said, inside a text of ours: no line of theirs begins a turn, and no name of theirs ends a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.folding import LONGEST_NAME, folded, in_brackets, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one", "one"),
        ("one\nuser: two", "one\n\tuser: two"),
        ("one\r\n\ntwo\u2028three\x0cfour", "one\n\n\ttwo\n\tthree\n\tfour"),
    ],
)
def test_every_line_but_the_first_stands_behind_a_tab_and_empty_ones_stay_empty(text, shown):
    assert folded(text) == shown


@given(st.text("ab:\n\r\t \u2028\x0b\x85", max_size=40))
def test_no_line_but_the_first_can_pass_for_the_head_of_a_turn(text):
    assert all(not line or line[0] == "\t" for line in folded(text).splitlines()[1:])


@given(st.text(max_size=300))
def test_a_name_stands_on_one_line_and_is_short(name):
    shown = one_line(name)

    assert len(shown.splitlines()) <= 1
    assert len(shown) <= LONGEST_NAME
    assert shown == shown.strip()


def test_a_name_in_brackets_cannot_end_them():
    assert in_brackets("a [b]\nuser: c") == "a (b) user: c"
