"""One line of the notes, taken apart: how much it matters, when it was said, what, and of which date it speaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_workers.prompts.lines import Line, priority_of, read_line


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("* 🔴 (09:15) User lives in Graz", Line(5, "09:15", "User lives in Graz", "")),
        ("* ✅ (9:15 PM) Done", Line(4, "21:15", "Done", "")),
        ("  - 🟡 (12:05 am) x", Line(3, "00:05", "x", "")),
        ("1. 🟢 (0:05) x", Line(1, "00:05", "x", "")),
        ("* (14:00) 🔴 x", Line(5, "14:00", "x", "")),
        ("🔴 x", Line(5, "", "x", "")),
        ("  * -> ran the tests", Line(3, "", "-> ran the tests", "")),
        ("* 🟡 (25:00) x", Line(3, "", "x", "")),
        ("* 🟡 (at noon) x", Line(3, "", "(at noon) x", "")),
    ],
)
def test_a_line_has_a_priority_a_time_and_a_text(line, read):
    assert read_line(line) == read


@pytest.mark.parametrize(
    ("end", "referenced"),
    [
        ("(meaning Jun 17, 2025)", "Jun 17, 2025"),
        ("(estimated mid June 2025).", "mid June 2025"),
        ("(Meaning  Dec 11, 2025 )", "Dec 11, 2025"),
    ],
)
def test_the_date_it_speaks_of_is_taken_off_its_end(end, referenced):
    assert read_line(f"* 🔴 (09:15) User will fly {end}") == Line(5, "09:15", "User will fly", referenced)


@pytest.mark.parametrize("end", ["(a note)", "(meaning)", "(meaning x) and more", "(meaning (x))"])
def test_other_brackets_stay_in_the_text(end):
    assert read_line(f"* 🔴 User will fly {end}") == Line(5, "", f"User will fly {end}", "")


@pytest.mark.parametrize("line", ["", "Date: Dec 4, 2025", "<thread id='a'>", "chatter", "---", "**bold**"])
def test_what_is_no_observation_is_not_read(line):
    assert read_line(line) is None


@given(st.text(max_size=40).map(lambda text: f"* 🔴 {text}".replace("\n", " ")))
def test_any_line_can_be_read_and_keeps_the_priority_of_its_mark(line):
    read = read_line(line)

    assert read is None or read.priority == priority_of(line)
