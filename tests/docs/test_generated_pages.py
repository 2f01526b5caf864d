"""The pages that `make docs` writes say what the code says, and nothing else of a page is touched."""

import sys

import pytest
from pages import ROOT

from om_api.metrics.series import SERIES
from om_api.settings.catalogue import MODEL_FIELDS, SETTINGS, dotted, variable

sys.path.insert(0, str(ROOT / ".ci"))
import generated_pages
import series_table
import settings_page

sys.path.pop(0)
PAGE = "before\n<!-- series: made by `make docs` -->\n| old |\n<!-- /series -->\nbehind\n"


@pytest.mark.parametrize(
    ("page", "made"), [pytest.param(*each, id=each[0].name) for each in generated_pages.made().items()]
)
def test_a_generated_page_is_what_the_code_says(page, made):
    assert page.read_text() == made, "run make docs"


def test_every_setting_is_documented_with_its_variable():
    page = settings_page.render_docs()

    assert [
        path for path in SETTINGS if f"| `{dotted(path)}` |" not in page or f"`{variable(path)}` |" not in page
    ] == []
    assert [field for field in MODEL_FIELDS if f"`OM_MODELS__<NAME>__{field.upper()}`" not in page] == []


def test_a_page_gets_the_table_between_its_marks():
    made = series_table.of_page(PAGE)

    assert made == PAGE.replace("| old |\n", series_table.render_docs())
    assert series_table.of_page(made) == made


def test_a_page_without_marks_stays_as_it_is():
    assert series_table.of_page("before\nbehind\n") == "before\nbehind\n"


def test_every_series_has_a_row():
    rows = series_table.render_docs().splitlines()

    assert [row.split("`")[1] for row in rows[2:]] == [series.name for series in SERIES]
