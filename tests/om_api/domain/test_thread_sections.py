"""Sections are whole lines, opened once and closed; what only looks like a heading opens nothing."""

from om_api.domain.thread_sections import harmless, runs, section
from om_api.domain.unmarked_copies import shared


def test_runs_are_sections_and_what_stands_between_them():
    for text, found in [
        ("", [("", [""])]), ("* a\n* b", [("", ["* a", "* b"])]),
        ('<thread id="t1">\n* a\n</thread>', [("t1", ["* a"])]),
        ('* a\n<thread id="t1">\n* b\n\n</thread>\n* c', [("", ["* a"]), ("t1", ["* b", ""]), ("", ["* c"])]),
        ('<thread id="t1">\n</thread>\n', [("t1", []), ("", [""])]),
        ('<thread id="t1">\n<thread id="t2">\n</thread>', [("t1", ['<thread id="t2">'])]),
        ('<thread id="t1">\n* a', [("", ['&lt;thread id="t1">', "* a"])]),
        ("</thread>\n* a", [("", ["&lt;/thread>", "* a"])]),
        ('* <thread id="t1">\n* </thread>', [("", ['* <thread id="t1">', "* </thread>"])]),
        ('<thread id="no id">\n</thread>', [("", ['<thread id="no id">', "&lt;/thread>"])]),
    ]:  # fmt: skip
        assert list(runs(text.split("\n"))) == found, (text, found)
    lines = ["* a", *section("x", ["* b"]), *section("t1", ["* c"])]
    assert list(runs(lines, {"t1"})) == [("", ["* a", *section("x", ["* b"])]), ("t1", ["* c"])]
    assert harmless('<thread id="t1">\na < b\n</thread> <threads>') == (
        '&lt;thread id="t1">\na < b\n&lt;/thread> <threads>'
    )


DATED = ["Date: Nov 20, 2025", "* common", "* to all"]
NEXT = "Date: Nov 21, 2025"


def texts(*several):
    return {f"t{n}": lines for n, lines in enumerate(several, 1)}


def test_shared_is_the_common_text_and_the_rest_of_each():
    assert shared(texts([*DATED, NEXT, "* one"], DATED, [*DATED, "* three"])) == (
        DATED, {"t1": [NEXT, "* one"], "t3": ["* three"]})  # fmt: skip
    for begin, rest in (((), ["Date: Nov 20, 2025"]), ((NEXT,), [NEXT]), ((NEXT, ""), [NEXT, ""])):
        assert shared(texts([*DATED, *begin, "* one"], [*DATED, *begin, "* two"])) == (
            DATED, {"t1": [*rest, "* one"], "t2": [*rest, "* two"]}), begin  # fmt: skip
    assert shared(texts(["* a", "* one"], ["* a", "* two"])) == (["* a"], {"t1": ["* one"], "t2": ["* two"]})
    for several in [
        (), (DATED,), (["* one"], ["* two"]), ([DATED[0], "* one"], [DATED[0], "* two"]), (["", ""], ["", ""]),
    ]:  # fmt: skip
        assert shared(texts(*several)) is None, several
