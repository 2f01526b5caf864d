"""A note is let go of when none of its lines is kept, and by no measure but that for whole lines."""

import pytest

from om_workers.prompts.wording import let_go

BOAT = "Date: Nov 20, 2026\n* 🔴 (09:30) Harold sails his green boat to Lerwick\n* 🟢 (09:31) He yawned twice"
TEA = "Date: Nov 20, 2026\n* 🟡 (10:00) The kettle needs another handle before Christmas"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{BOAT}\n{TEA}", [False, False]),
        ("* Harold sails to Lerwick in a green boat", [False, True]),
        ("* 🟢 yawned twice, and mends the kettle's handle before Christmas", [False, False]),
        ("Date: Nov 20, 2026\n* Harold", [True, True]),  # a date and a name are no line
        ("", [True, True]),
    ],
)
def test_a_note_is_let_go_of_when_none_of_its_lines_is_kept(text, expected):
    assert let_go([BOAT, TEA], text) == expected


@pytest.mark.parametrize("note", ["", "Date: Nov 20, 2026", "* …", "* Pattern: Harold sails every Friday"])
def test_what_says_nothing_that_can_be_kept_was_not_let_go_of(note):
    assert let_go([note], "* something else") == [False]


def test_words_that_all_of_the_past_has_keep_no_line():
    before = ["\n".join(f"* Harold asks about boat {n}" for n in range(50))]
    notes = ["* Harold asks about anchors, chains and moorings"]

    assert let_go(notes, "* Harold asks about boat 7", before) == [True]
    assert let_go(notes, "* Harold asks about anchors, chains and moorings", before) == [False]


def test_threads_headings_are_no_lines():
    assert let_go(['<thread id="t-1">\n* Harold sails his boat\n</thread>'], '<thread id="t-1">\n* tea\n</thread>') == [
        True
    ]
