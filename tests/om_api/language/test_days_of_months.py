"""Days of months whose year, or month, is left out."""

from datetime import date

import pytest

from om_api.language.relative_dates import meanings


@pytest.mark.parametrize(
    ("said", "text", "meaning"),
    [
        ("2025-02-10", "send it by February 29", None),
        ("2027-10-10", "send it by February 29", "Feb 29, 2028"),
        ("2025-11-05", "pay it on the 31st", None),
        ("2025-11-05", "we will pay on the 31st", "Dec 31, 2025"),
        ("2025-11-05", "we paid on the 31st", "Oct 31, 2025"),
        ("2025-12-20", "on Monday, January 5 we start", "Jan 5, 2026"),
        ("2025-12-20", "on Tuesday, January 5 we start", None),
        ("2025-12-20", "the second of January is fine", "Jan 2, 2026"),
        ("2025-12-20", "a second January in bed", None),
        ("2025-12-20", "from May 3-5 we rest", None),
    ],
)
def test_it_is_the_day_that_the_calendar_and_the_tense_leave(said, text, meaning):
    assert list(meanings(text, date.fromisoformat(said))) == [meaning] * bool(meaning)
