"""What changed between two texts, word by word: the stretches make up both again, and plain text shows them by marks."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.notes.word_diff import Change, marked_lines, word_diff

TEXTS = st.lists(st.sampled_from(["a", "b c", "b d", "", "é, f", "🔴 x", "\tg"]), max_size=6).map("\n".join)


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ("", "", []),
        ("a", "a", [("same", "a")]),
        ("", "a", [("new", "a")]),
        ("a", "", [("gone", "a")]),
        (
            "on Friday at 9",
            "on Monday at 9",
            [("same", "on "), ("gone", "Friday"), ("new", "Monday"), ("same", " at 9")],
        ),
        ("I live in Oslo\n", "It rains\n", [("gone", "I live in Oslo\n"), ("new", "It rains\n")]),
        (
            "I live in Oslo\nIt rains\n",
            "Snow fell\nI live in Bergen\n",
            [
                ("new", "Snow fell\n"),
                ("same", "I live in "),
                ("gone", "Oslo"),
                ("new", "Bergen"),
                ("same", "\n"),
                ("gone", "It rains\n"),
            ],
        ),
        ("a\nb\n", "a\nc\nb\n", [("same", "a\n"), ("new", "c\n"), ("same", "b\n")]),
    ],
)
def test_what_changed_is_told_in_reading_order(before, now, changes):
    assert word_diff(before, now) == [Change(*each) for each in changes]


@given(TEXTS, TEXTS)
def test_the_stretches_make_up_both_texts(before, now):
    changes = word_diff(before, now)

    assert "".join(each.text for each in changes if each.what != "gone") == now
    assert "".join(each.text for each in changes if each.what != "new") == before
    assert all(one.what != other.what for one, other in pairwise(changes))
    assert all(each.text for each in changes)


def test_many_lines_that_have_little_in_common_are_compared_in_no_time():
    began = time.monotonic()
    one, other = ("\n".join(f"{name} {n} lies here" for n in range(2_000)) for name in ("parcel", "letter"))
    changes = word_diff(one, other)

    assert {each.what for each in changes} >= {"gone", "new"}
    assert time.monotonic() - began < 30


def test_thousands_of_equal_lines_are_compared_in_no_time():
    began = time.monotonic()
    changes = word_diff("* same\n" + "* aa\n" * 20_000, "* same\n" + "* bb\n" * 20_000)

    assert [each.what for each in changes] == ["same", "gone", "new"]
    assert time.monotonic() - began < 30


def test_long_texts_that_have_nothing_in_common_are_compared_in_no_time():
    began = time.monotonic()
    changes = word_diff(" ".join(f"a{n}" for n in range(50_000)), " ".join(f"b{n}" for n in range(50_000)))

    assert [each.what for each in changes] == ["gone", "new"]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        ("* same", "* same", ["  * same"]),
        ("* Ada is his mother.", "* Ada is his sister.", ["~ * Ada is his [-mother-]{+sister+}."]),
        ("a\nb", "a\nb\nc", ["  a", "  b", "+ {+c+}"]),
        ("a\nb\nc", "a", ["  a", "- [-b-]", "- [-c-]"]),
        ("a\nx\nc", "a\ny z\nq\nc", ["  a", "- [-x-]", "+ {+y z+}", "+ {+q+}", "  c"]),
        ("a\n\nb", "a\nb", ["  a", "- ", "  b"]),
        ("x y\nz", "x z", ["- [-x y-]", "- [-z-]", "+ {+x z+}"]),
        ("one two three four\nfive", "one two three five", ["~ one two three [-four-]{+five+}", "- [-five-]"]),
    ],
)
def test_in_plain_text_each_line_says_by_a_mark_what_became_of_it(before, now, lines):
    assert marked_lines(before, now) == lines


def test_of_plain_text_either_can_be_made_again():
    before = "\n".join(f"* line {n} of the notes, about matter {n % 7}" for n in range(400))
    now = before.replace("matter 3", "subject 3").replace("* line 9", "* row 9")
    told = marked_lines(before, now)
    becomes = [re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", line[2:])) for line in told if line[0] != "-"]
    was = [re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", line[2:])) for line in told if line[0] != "+"]

    assert ("\n".join(was), "\n".join(becomes)) == (before, now)
