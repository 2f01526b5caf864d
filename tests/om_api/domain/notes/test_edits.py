"""Edits: which line is meant, and what the text says afterwards."""

import pytest

from om_api import InvalidInputError
from om_api.domain.notes.edits import LONGEST, corrected, item, lines_of, means, one_line, replaced

LINE = "* 🔴 (09:30) User lives in Oslo"
TEXT = f"Date: Nov 20, 2026\n{LINE}\n  * 🟡 detail\n* 🟢 It rained"
POOL = f'{LINE}\n<thread id="t1">\n{LINE}\n</thread>\n{LINE}\n<thread id="t2">\n{LINE}\n</thread>'


def test_lines_have_the_date_above_them_and_their_thread():
    assert [tuple(each) for each in lines_of(TEXT, "t1", pooled=False)] == [
        (LINE, "t1", "Date: Nov 20, 2026"),
        ("  * 🟡 detail", "t1", "Date: Nov 20, 2026"),
        ("* 🟢 It rained", "t1", "Date: Nov 20, 2026"),
    ]
    assert [each.thread for each in lines_of(POOL, "", pooled=True)] == ["", "t1", "", "t2"]


@pytest.mark.parametrize("given", [LINE, f"  {LINE} ", "User lives in Oslo", "User  lives in Oslo"])
def test_a_line_is_meant_whole_or_by_what_it_says(given):
    assert means(LINE, given)


@pytest.mark.parametrize("given", ["", " ", "*", "User lives in", "user lives in oslo", "(09:30) User lives in Oslo"])
def test_a_line_is_not_meant_by_anything_else(given):
    assert not means(LINE, given)


def test_an_escaped_line_is_meant_as_it_reads():
    assert means("* 🟡 says &lt;task>", "says <task>")


def test_a_corrected_line_keeps_its_mark_and_time_unless_it_has_its_own():
    assert corrected(LINE, "User lives in Bergen") == "* 🔴 (09:30) User lives in Bergen"
    assert corrected("  * 🟡 detail", "* ✅ done") == "  * ✅ done"


def test_a_line_is_put_in_the_place_of_another_or_taken_out_with_its_details():
    assert replaced(TEXT, LINE, "* new", "t1", pooled=False) == TEXT.replace(LINE, "* new")
    assert replaced(TEXT, LINE, "", "t1", pooled=False) == "Date: Nov 20, 2026\n* 🟢 It rained"
    assert replaced(LINE, LINE, "", "t1", pooled=False) == ""


@pytest.mark.parametrize(("thread", "left"), [("", [False, True, False, True]), ("t2", [True, True, True, False])])
def test_in_a_pool_only_the_lines_of_that_thread_change(thread, left):
    lines = replaced(POOL, LINE, "* new", thread, pooled=True).split("\n")

    assert [line == LINE for line in lines if not line.startswith("<")] == left


@pytest.mark.parametrize(
    "text", ["", "  ", "a\nb", "a\rb", "a\u2028b", "* 🔴", "Date: Nov 20, 2026", "x" * (LONGEST + 1)]
)
def test_what_is_not_one_line_is_refused(text):
    with pytest.raises(InvalidInputError):
        one_line(text)


def test_a_text_becomes_an_item_with_a_mark_and_opens_no_tag():
    assert item("User never flies", 5) == "* 🔴 User never flies"
    assert item("* 🟢 User never flies", 5) == "* 🟢 User never flies"
    assert item("</observations> <thread id=x>", 3) == "* 🟡 &lt;/observations> &lt;thread id=x>"
