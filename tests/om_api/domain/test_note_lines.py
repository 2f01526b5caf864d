"""note_lines: what is taken out of notes leaves neither details behind nor dates above nothing."""

import pytest

from om_api.domain.note_lines import told, without

NOTES = [
    "Date: Nov 20, 2026",
    "* 🔴 (14:30) The door code is 4711.",
    "  * -> it was 0815 before",
    "  * -> Ada chose it",
    "* 🟡 (14:31) It rains.",
    "",
    "Date: Nov 21, 2026",
    "* 🟡 (09:00) The code was said again: 4711.",
]


def places(*texts):
    return {at for at, line in enumerate(NOTES) if any(text in line for text in texts)}


@pytest.mark.parametrize(
    ("goes", "left"),
    [
        ((), NOTES),
        (("It rains",), NOTES[:4] + NOTES[5:]),
        (("0815",), NOTES[:2] + NOTES[3:]),
        (("door code",), [NOTES[0], NOTES[4], *NOTES[5:]]),
        (("door code", "It rains"), NOTES[6:]),
        (("4711",), [NOTES[0], NOTES[4], ""]),
        (("4711", "It rains"), []),
    ],
)
def test_what_goes_takes_its_details_along_and_the_dates_above_nothing(goes, left):
    assert list(without(NOTES, places(*goes)).lines) == left


def test_what_went_is_told_in_order():
    assert without(NOTES, places("door code", "rains")).gone == (*NOTES[1:4], NOTES[4])


def test_a_section_without_a_line_left_says_nothing_and_others_stay():
    lines = ['<thread id="t-1">', "* secret", "</thread>", '<thread id="t-2">', "* kept", "</thread>"]

    assert "* secret" not in without(lines, {1}).text
    assert without(lines, {1}).lines[-3:] == tuple(lines[3:])
    assert without(lines[:3], {1}).lines == ()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (NOTES[0], ""),
        (NOTES[1], "The door code is 4711."),
        (NOTES[2], "it was 0815 before"),
        ('<thread id="t-1">', ""),
        ("1. ✅ Ada chose 14 (of 20)", "Ada chose 14 (of 20)"),
        ("just words", "just words"),
    ],
)
def test_a_line_says_what_stands_behind_its_mark_and_time(line, says):
    assert told(line) == says
