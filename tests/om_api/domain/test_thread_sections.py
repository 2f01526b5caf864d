"""Sections are whole lines, opened once and closed; what only looks like a heading opens nothing."""

import pytest

from om_api.domain.thread_sections import harmless, runs, section


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [("", [""])]),
        ("* a\n* b", [("", ["* a", "* b"])]),
        ('<thread id="t1">\n* a\n</thread>', [("t1", ["* a"])]),
        ('* a\n<thread id="t1">\n* b\n\n</thread>\n* c', [("", ["* a"]), ("t1", ["* b", ""]), ("", ["* c"])]),
        ('<thread id="t1">\n</thread>\n', [("t1", []), ("", [""])]),
        ('<thread id="t1">\n<thread id="t2">\n</thread>', [("t1", ['<thread id="t2">'])]),
        ('<thread id="t1">\n* a', [("", ['&lt;thread id="t1">', "* a"])]),
        ("</thread>\n* a", [("", ["&lt;/thread>", "* a"])]),
        ('* <thread id="t1">\n* </thread>', [("", ['* <thread id="t1">', "* </thread>"])]),
        ('<thread id="no id">\n</thread>', [("", ['<thread id="no id">', "&lt;/thread>"])]),
    ],
)
def test_runs_are_sections_and_what_stands_between_them(text, found):
    assert list(runs(text.split("\n"))) == found


def test_a_section_of_nobody_is_nothing_but_lines():
    lines = ["* a", *section("x", ["* b"]), *section("t1", ["* c"])]

    assert list(runs(lines, {"t1"})) == [("", ["* a", *section("x", ["* b"])]), ("t1", ["* c"])]


def test_a_harmless_text_opens_and_closes_nothing():
    assert harmless('<thread id="t1">\na < b\n</thread> <threads>') == (
        '&lt;thread id="t1">\na < b\n&lt;/thread> <threads>'
    )
