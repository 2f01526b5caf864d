import re

import pytest

from om_workers.prompts.parse import parse_observer


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


def order(*bullets, head="Date: Dec 4, 2025"):
    lines = parse_observer(observations(head, *bullets)).text.split("\n")
    return "".join(line.split()[-1] for line in lines[1:])


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["14:00", "09:15"], "ba"),
        (["14:00", "9:15"], "ba"),
        (["13:00", "12:30"], "ba"),
        (["24:00", "09:15"], "ab"),
        (["10:30", "09:15", "10:00"], "bca"),
        (["9:00", "0:30"], "ba"),
        (["12:30", "0:15"], "ba"),
        (["2:00 PM", "9:15 AM", "12:05 am"], "cba"),
        (["12:10 PM", "11:50 AM"], "ba"),
        (["09:15", "09:10", "09:15"], "bac"),
        (["12:30", "01:15"], "ab"),
        (["11:50", "1:15"], "ab"),
        (["2:00 PM", "09:15"], "ab"),
        (["13:00 PM", "9:00 AM"], "ab"),
        (["25:00", "09:15"], "ab"),
        (["14:00", "09:75"], "ab"),
    ],
)
def test_bullets_are_sorted_by_time_where_the_clock_is_clear(times, expected):
    assert order(*(f"* 🟡 ({time}) {name}" for time, name in zip(times, "abc", strict=False))) == expected


def test_what_is_indented_stays_with_its_bullet():
    assert order("* (14:00) a", "  * -> b", "* (09:00) c", "  more d") == "cdab"


@pytest.mark.parametrize("foreign", ["* 🟡 no time x", "Some remark x", "## heading x"])
def test_one_line_without_a_place_keeps_the_whole_group_as_it_is(foreign):
    assert order("* (14:00) a", foreign, "* (09:00) b") == "axb"


def test_each_date_is_sorted_by_itself_and_lines_before_the_first_stay():
    text = observations(
        "* (15:00) x",
        "* (14:00) y",
        "Date: Dec 4, 2025",
        "* (15:00) a",
        "* (14:00) b",
        "",
        "Date: Dec 5",
        "* (08:00) c",
    )

    assert re.sub(r"[^a-z\n]|ate|ec", "", parse_observer(text).text).split() == ["x", "y", "b", "a", "c"]
    assert "\n\nDate: Dec 5" in parse_observer(text).text
