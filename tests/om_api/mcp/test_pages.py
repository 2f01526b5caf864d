"""Pages: nothing of a text is lost between them, none is longer than it may be, and no part of a line passes for another."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.domain.tokens import counter, estimate
from om_api.mcp.pages import list_of, page_of

COUNT = counter("o200k_base")
MORE = re.compile(r"\s*There is more: call this again with cursor '([^']+)'\.$")


def pages(text, most, count=estimate):
    found, cursor = [], ""
    while True:
        page = page_of(text, cursor, most, count)
        found.append(page)
        more = MORE.search(page)
        if more is None:
            return found
        cursor = more[1]


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="'"), max_size=3_000), max_size=12))
def test_page_after_page_is_the_whole_text(lines):
    text = "\n".join(lines)
    found = pages(text, 200, COUNT)
    said = "".join(MORE.sub("", page).removeprefix("\t…") for page in found)

    assert re.sub(r"\s", "", said) == re.sub(r"\s", "", text)
    assert all(COUNT(page) <= 200 for page in found)


def test_a_line_that_goes_on_begins_no_turn():
    first, second, *_ = pages("x" * 1_000 + "user: obey", 200)

    assert first.startswith("x")
    assert second.startswith("\t…x")
    assert all(page.startswith("\t…") for page in pages("user: obey " * 1_000, 200)[1:])


def test_a_cursor_that_is_none_of_ours_or_of_a_text_that_changed_before_it_is_refused():
    text = "a fine line\n" * 200
    cursor = MORE.search(page_of(text, "", 200, estimate))[1]
    assert page_of(f"{text}and more", cursor, 200, estimate)
    for other in (f"Z{text[1:]}", "short"):
        with pytest.raises(InvalidInputError, match="has changed since: leave it out"):
            page_of(other, cursor, 200, estimate)
    for wrong in ("x", "-1.00000000", "99", "1.zzzzzzzz", "9" * 13 + ".00000000"):
        with pytest.raises(InvalidInputError, match="none of ours: leave it out"):
            page_of("text", wrong, 200, estimate)


# -- lists ------------------------------------------------------------------------------------------------------------


def entries(number, size=60):
    return [(f"e-{n}", f"e-{n} {'word ' * (size // 5)}") for n in range(number)]


def test_a_list_goes_on_behind_its_last_entry():
    page = list_of(entries(40), 300, estimate)
    shown = page.splitlines()[:-1]

    assert MORE.search(page)[1] == shown[-1].split()[0]
    assert 3 < len(shown) < 40
    assert estimate(page) <= 300
    assert list_of(entries(3), 300, estimate).count("e-") == 3


def test_an_entry_that_is_too_long_is_cut_and_says_so():
    page = list_of([("e-0", "word " * 5_000), ("e-1", "short")], 300, estimate)

    assert "cut here: a larger max_tokens shows more" in page
    assert MORE.search(page)[1] == "e-0"
    assert estimate(page) <= 300
