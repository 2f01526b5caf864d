from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_workers.prompts.lines import NotedLine, priority_of, read_line
from om_workers.prompts.parse import parse_observer, parse_reflector


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("* 🔴 (09:15) User lives in Graz", NotedLine(5, "09:15", "User lives in Graz", "")),
        ("* ✅ (9:15 PM) Done", NotedLine(4, "21:15", "Done", "")),
        ("  - 🟡 (12:05 am) x", NotedLine(3, "00:05", "x", "")),
        ("1. 🟢 (0:05) x", NotedLine(1, "00:05", "x", "")),
        ("* (14:00) 🔴 x", NotedLine(5, "14:00", "x", "")),
        ("🔴 x", NotedLine(5, "", "x", "")),
        ("  * -> ran the tests", NotedLine(3, "", "-> ran the tests", "")),
        ("* 🟡 (25:00) x", NotedLine(3, "", "x", "")),
        ("* 🟡 (at noon) x", NotedLine(3, "", "(at noon) x", "")),
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
    assert read_line(f"* 🔴 (09:15) User will fly {end}") == NotedLine(5, "09:15", "User will fly", referenced)


@pytest.mark.parametrize("end", ["(a note)", "(meaning)", "(meaning x) and more", "(meaning (x))"])
def test_other_brackets_stay_in_the_text(end):
    assert read_line(f"* 🔴 User will fly {end}") == NotedLine(5, "", f"User will fly {end}", "")


@pytest.mark.parametrize("line", ["", "Date: Dec 4, 2025", "<thread id='a'>", "chatter", "---", "**bold**"])
def test_what_is_no_observation_is_not_read(line):
    assert read_line(line) is None


@given(st.text(max_size=40).map(lambda text: f"* 🔴 {text}".replace("\n", " ")))
def test_any_line_can_be_read_and_keeps_the_priority_of_its_mark(line):
    read = read_line(line)

    assert read is None or read.priority == priority_of(line)


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


@pytest.mark.parametrize(
    ("lines", "priority"),
    [
        (["* 🟢 a"], 1),
        (["* 🟢 a", "* 🟡 b"], 3),
        (["* 🟡 a", "  * ✅ b"], 4),
        (["* ✅ a", "- 🔴 (09:15) b"], 5),
        (["* (09:15) 🔴 b"], 5),
        (["🔴 without a bullet"], 5),
        (["* 🟢 User likes 🔴 lamps"], 1),
        (["* plain"], 3),
    ],
)
def test_the_priority_is_the_highest_of_the_lines_own_marks(lines, priority):
    assert parse_observer(observations(*lines)).priority == priority


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("* 🟡 Pattern: a", ("a",)),
        ("- Pattern: a", ("a",)),
        ("* 🔴 (09:15) **Pattern:** a", ("a",)),
        ("* 🟡 Pattern: a <thread b", ("a &lt;thread b",)),
        ("* 🟡 The pattern: a", ()),
        ("* 🟡 Pattern:", ()),
    ],
)
def test_patterns_are_read_from_their_own_lines(line, found):
    assert parse_reflector(observations("* 🔴 x", line)).patterns == found


def test_insights_are_lines_of_their_own_kind():
    reflected = parse_reflector(observations("* 🔴 x", "* 🟡 **Insight:** ships on Fridays", "* Pattern: asks twice"))

    assert (reflected.insights, reflected.patterns) == (("ships on Fridays",), ("asks twice",))


def test_a_long_line_is_cut_with_a_note():
    observed = parse_observer(observations("* 🔴 " + "x" * 71_000, "* 🟡 b"))

    assert observed.text == "* 🔴 " + "x" * 9_996 + " ... [truncated]\n* 🟡 b"
    assert observed.priority == 5
