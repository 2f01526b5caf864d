"""The pages that commands write say what the code says."""

import re
import sys

import pytest
from pages import ROOT

from om_bench.fleet import report, unit_costs
from om_bench.fleet.load import Ground, Load

sys.path.insert(0, str(ROOT / ".ci"))
import generated_pages

sys.path.pop(0)


def test_a_generated_page_is_what_the_code_says():
    stale = [page.name for page, made in generated_pages.made().items() if page.read_text() != made]

    assert stale == [], "run make docs"


@pytest.mark.nightly
def test_the_tables_of_a_fleet_are_those_of_the_unit_costs_as_they_are_kept():
    found = report.measure(unit_costs.read(), Load(), Ground(), (1e6, 1e7, 1e8))
    written = re.search(
        r"<!-- fleet -->\n(.*?)<!-- /fleet -->", (ROOT / "docs/internet-scale.md").read_text(), re.DOTALL
    )

    assert written
    assert written[1] == "\n".join(report.as_lines(found)).rstrip() + "\n", (
        "om bench fleet --write docs/internet-scale.md"
    )
