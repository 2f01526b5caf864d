"""Rows fit into whatever room there is, and no word of them is broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from om_api.cli.tables import Rows, wrapped

NAME = "019a9c6f0a6b5f0c2d1e3a4b5c6d"
COLUMNS = ("observation", "tokens in", "notes", "cost")
ROW = (NAME, "1,200", "The user prefers an aisle seat, and flies on Friday at noon.", "0.0012")


def shown(rows, width):
    """What is printed at a width, line by line; and which columns had no room."""
    found, left_out = rows.fitted(width)
    if isinstance(found, str):
        return found.split("\n"), left_out
    console = Console(width=width, record=True, markup=False, highlight=False)
    with console.capture() as printed:
        console.print(found)
    return printed.get().rstrip("\n").split("\n"), left_out


def test_where_there_is_room_everything_stands_on_one_line():
    lines, left_out = shown(Rows(COLUMNS, [ROW], "notes of harold"), 10_000)

    assert [word for word in ROW if any(word in line for line in lines)] == list(ROW)
    assert (len([line for line in lines if line.strip()]), left_out) == (4, ())


def test_where_there_is_less_room_texts_fold_and_ids_do_not():
    lines, left_out = shown(Rows(COLUMNS, [ROW]), 80)

    assert left_out == ()
    assert sum(NAME in line for line in lines) == 1
    assert not any(ROW[2] in line for line in lines)


def test_where_there_is_little_room_the_least_go_first_and_are_named():
    lines, left_out = shown(Rows(COLUMNS, [ROW], least=("tokens in", "cost")), 66)

    assert left_out == ("tokens in",)
    assert not any("1,200" in line for line in lines)
    assert any("0.0012" in line for line in lines)


@pytest.mark.parametrize("width", [20, 40, 59])
def test_where_there_is_hardly_any_each_row_is_a_block_of_all_it_says(width):
    lines, left_out = shown(Rows(COLUMNS, [ROW, ROW], "notes", least=COLUMNS[1:]), width)

    assert left_out == ()
    assert lines[0] == "notes"
    assert sum(NAME in line for line in lines) == 2
    assert lines.count("") == 2
    assert {"tokens in    1,200", "cost         0.0012"} <= set(lines)


def test_a_small_table_stays_one():
    lines, _ = shown(Rows(("resource", "rejected"), [("harold", "2")]), 40)

    assert any("harold" in line and "2" in line for line in lines)


def test_columns_of_one_name_are_told_apart():
    lines, _ = shown(Rows(("cached", "sent", "cached"), [("1", "2", "3")]), 30)

    assert ["1", "2", "3"] in [line.split() for line in lines]


def test_no_rows_are_no_trouble():
    assert shown(Rows(COLUMNS, []), 20)[0]


WORDS = st.text("abcxyz-0123456789", min_size=1, max_size=30)
CELLS = st.one_of(WORDS, st.lists(WORDS, max_size=12).map(" ".join), st.just("-"))


@given(st.integers(20, 120), st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4))
def test_whatever_stands_in_it_fits_and_no_word_is_broken(width, cells):
    rows = Rows(("id", "tokens in", "what it says"), cells, least=("tokens in",))
    lines, left_out = shown(rows, width)
    printed = {word for line in lines for word in line.split()}
    kept = [row[:1] + row[2:] if left_out else row for row in cells]

    assert max(map(len, lines)) <= max(width, 16 + 30)  # a block whose one word has no room
    assert {word for row in kept for cell in row for word in cell.split()} <= printed


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_line_goes_on_below_further_right(width):
    lines = wrapped(f"error    store      {NAME} holds what is not ours -> om verify names it, remove it", width, 20)
    first, *others = lines.split("\n")

    assert first.startswith("error    store")
    assert others
    assert all(each.startswith(" " * 20) for each in others)
    assert NAME in lines
