"""What a version that left no marks copied to each thread is found where nothing else can be meant."""

import pytest

from om_api.domain.thread_sections import section
from om_api.domain.unmarked_copies import copies, is_unmarked, shared, told_often
from om_api.domain.values import Generation, TextPiece

DATED = ["Date: Nov 20, 2025", "* common", "* to all"]
NEXT = "Date: Nov 21, 2025"


def texts(*several):
    return {f"t{n}": lines for n, lines in enumerate(several, 1)}


def pool(*sections, between="", origin="restore", **said):
    several = ("\n".join(section(f"t{n}", lines)) for n, lines in enumerate(sections, 1))
    written = "\n".join(each + between for each in several)
    return Generation(n=1, text=written, origin=origin, **said)


def test_where_one_copy_ends_with_it_the_common_text_is_known():
    assert shared(texts([*DATED, NEXT, "* one"], DATED, [*DATED, "* three"])) == (
        DATED,
        {"t1": [NEXT, "* one"], "t3": ["* three"]},
    )


@pytest.mark.parametrize(
    ("begin", "rest"),
    [((), ["Date: Nov 20, 2025"]), ((NEXT,), [NEXT]), ((NEXT, ""), [NEXT, ""])],
    ids=["on its day", "on the next day", "behind an empty line"],
)
def test_where_none_does_each_rest_keeps_the_date_it_stands_under(begin, rest):
    assert shared(texts([*DATED, *begin, "* one"], [*DATED, *begin, "* two"])) == (
        DATED,
        {"t1": [*rest, "* one"], "t2": [*rest, "* two"]},
    )


def test_what_has_no_date_gets_none():
    assert shared(texts(["* a", "* one"], ["* a", "* two"])) == (["* a"], {"t1": ["* one"], "t2": ["* two"]})


@pytest.mark.parametrize(
    "several",
    [(), (DATED,), (["* one"], ["* two"]), ([DATED[0], "* one"], [DATED[0], "* two"]), (["", ""], ["", ""])],
    ids=["none", "one alone", "nothing", "a date", "empty lines"],
)
def test_what_says_nothing_is_not_shared(several):
    assert shared(texts(*several)) is None


@pytest.mark.parametrize(
    ("generation", "copied"),
    [
        (pool(DATED, DATED), True),
        (pool(DATED, DATED, between="\n* said in between"), False),
        (pool(DATED, DATED, origin="reflection"), False),
        (pool(DATED, DATED, restores=3), False),
        (pool(DATED, DATED, pieces=(TextPiece(origin="e:1", at=0, lines=1),)), False),
        (Generation(n=1, text=f"{pool(DATED).text}\n{pool(DATED).text}", origin="restore"), False),
        (Generation(n=1, text=" ", origin="restore"), False),
    ],
)
def test_a_pool_of_copies_is_nothing_but_one_section_for_each_thread(generation, copied):
    assert copies(generation) == (texts(DATED, DATED) if copied else {})


@pytest.mark.parametrize(("n", "often"), [(1, ""), (2, "* common"), (10, "* common")])
def test_a_line_that_was_copied_is_told_often(n, often):
    assert told_often(pool(*[[*DATED, f"* of {each}"] for each in range(n)])) == often


def test_what_threads_may_well_have_noted_alike_is_not_told_often():
    assert told_often(pool(["* x", "* y"], ["* x", "* z"])) == ""
    assert told_often(pool(["* x", "* y"], ["* x"])) == "* x"


def test_a_generation_that_an_undo_made_was_not_moved():
    assert [is_unmarked(Generation(n=2, text="*", origin="restore", restores=n)) for n in (None, 1)] == [True, False]
