"""A mention of a relative date, the tense beside it, and the words for months and spans."""

from datetime import date

from om_api.language.mention import Mention, first_of_month, show_month, show_span
from om_api.language.tense import Tense, tense_at

DAY = date(2025, 12, 3)


def mention(text, words, **pieces):
    start = text.index(words)
    return Mention(text, start, start + len(words), pieces, DAY)


def test_mention_knows_its_pieces_its_tense_and_whether_a_sentence_begins_with_it():
    said = mention("by  May", "by  May", near="by\n", month="May", year=None)
    assert [said["near"], said["month"], said["year"], said["other"]] == ["by", "may", "", ""]
    assert not said.is_lower("month")
    assert mention("we met on Friday", "Friday").tense is Tense.BEHIND
    opens = {"Next week": True, "Yes. Next week": True, "* Next week": True, "on Next week": False}
    assert {text: mention(text, "Next week").opens for text in opens} == opens


def test_months_and_spans_are_shown_across_the_turn_of_a_year():
    assert [show_month(first_of_month(DAY, step)) for step in (0, 1, -12)] == ["Dec 2025", "Jan 2026", "Dec 2024"]
    assert show_span(date(2025, 12, 8), date(2025, 12, 14)) == "Dec 8-14, 2025"
    assert show_span(date(2025, 11, 29), date(2025, 12, 5)) == "Nov 29 - Dec 5, 2025"
    assert show_span(date(2025, 12, 29), date(2026, 1, 4)) == "Dec 29, 2025 - Jan 4, 2026"


def test_the_nearest_verb_of_the_clause_says_the_tense():
    behind = ("we met on X", "on X we met")
    ahead = ("we will meet on X", "it must be paid by X", "she told me that she'll come on X", "I need speed on X")
    ahead += ("I would like to go on X", "I will paint the shed on X", "I'll fetch the finished parts on X")
    unsure = ("I planned to go on X", "I bought tickets and we fly on X", "as I would expect on X")
    unsure += ("we always met on X", "in 2019 we met on X")
    tenses = {Tense.BEHIND: behind, Tense.AHEAD: ahead, Tense.UNSURE: unsure}
    for tense, texts in (*tenses.items(), (Tense.OPEN, ("call me on X", "it is scheduled for X"))):
        for text in texts:
            assert tense_at(text, text.index("X"), text.index("X") + 1) is tense, text
