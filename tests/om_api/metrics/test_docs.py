"""The tables of the page of monitoring are written where they belong, and nothing else of it is touched."""

from __future__ import annotations

from om_api.metrics.docs import of_page, render_docs
from om_api.metrics.series import SERIES

PAGE = "before\n<!-- series: made by `make docs` -->\n| old |\n<!-- /series -->\nbehind\n"


def test_a_page_gets_the_table_between_its_marks():
    made = of_page(PAGE)

    assert made == PAGE.replace("| old |\n", render_docs())
    assert of_page(made) == made


def test_a_page_without_marks_stays_as_it_is():
    assert of_page("before\nbehind\n") == "before\nbehind\n"


def test_every_series_has_a_row():
    rows = render_docs().splitlines()

    assert [row.split("`")[1] for row in rows[2:]] == [series.name for series in SERIES]
