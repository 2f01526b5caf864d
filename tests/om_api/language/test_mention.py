"""A mention of a relative date, and the words for months and spans."""

from datetime import date

import pytest

from om_api.language.mention import Mention, first_of_month, show_month, show_span
from om_api.language.tense import Tense

DAY = date(2025, 12, 3)


def mention(text, words, **pieces):
    start = text.index(words)
    return Mention(text, start, start + len(words), pieces, DAY)


def test_its_pieces_are_small_with_single_blanks_and_empty_where_missing():
    said = mention("by  May", "by  May", near="by\n", month="May", year=None)

    assert [said["near"], said["month"], said["year"], said["other"]] == ["by", "may", "", ""]
    assert not said.is_lower("month")


@pytest.mark.parametrize(
    ("text", "opens"), [("Next week", True), ("Yes. Next week", True), ("* Next week", True), ("on Next week", False)]
)
def test_it_knows_whether_a_sentence_begins_with_it(text, opens):
    assert mention(text, "Next week").opens is opens


def test_it_knows_its_tense():
    assert mention("we met on Friday", "Friday").tense is Tense.BEHIND


def test_months_and_spans_are_shown_across_the_turn_of_a_year():
    assert [show_month(first_of_month(DAY, step)) for step in (0, 1, -12)] == ["Dec 2025", "Jan 2026", "Dec 2024"]
    assert show_span(date(2025, 12, 8), date(2025, 12, 14)) == "Dec 8-14, 2025"
    assert show_span(date(2025, 11, 29), date(2025, 12, 5)) == "Nov 29 - Dec 5, 2025"
    assert show_span(date(2025, 12, 29), date(2026, 1, 4)) == "Dec 29, 2025 - Jan 4, 2026"
