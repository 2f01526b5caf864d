import pytest
from extracts import WEDNESDAY

from om_api.language.relative_dates import annotate


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("I saw her yesterday", "Dec 2, 2025"),
        ("it ends tomorrow", "Dec 4, 2025"),
        ("it ended last night", "Dec 2, 2025"),
        ("the day after tomorrow", "Dec 5, 2025"),
        ("the day before yesterday", "Dec 1, 2025"),
        ("we met last Friday", "Nov 28, 2025"),
        ("on Monday we went home", "Dec 1, 2025"),
        ("call me on Monday", "Dec 8, 2025"),
        ("due by Friday", "Dec 5, 2025"),
        ("next Friday works", "Dec 12, 2025"),
        ("next week is fine", "Dec 8-14, 2025"),
        ("this weekend", "Dec 6-7, 2025"),
        ("in three days", "Dec 6, 2025"),
        ("a couple of weeks ago", "Nov 19, 2025"),
        ("we ship in March", "Mar 2026"),
        ("back in February we moved", "Feb 2025"),
        ("next month", "Jan 2026"),
        ("two years ago", "2023"),
        ("on January 9", "Jan 9, 2026"),
        ("valid until October 31", "Oct 31, 2026"),
        ("by the 5th of May", "May 5, 2026"),
        ("the 14th is fine", "Dec 14, 2025"),
        ("until the 2nd", "Jan 2, 2026"),
    ],
)
def test_a_relative_date_is_told_with_its_meaning(text, meaning):
    assert annotate(text, WEDNESDAY) == f"{text} (meaning {meaning})"


@pytest.mark.parametrize(
    "text",
    [
        "every Friday",
        "on December 25, 2025",
        "on December 9",
        "since May 31",
        "I may go",
        "march on",
        "February 30",
        "3 days in a row",
    ],
)
def test_what_is_no_relative_date_is_left_alone(text):
    assert annotate(text, WEDNESDAY) == text
