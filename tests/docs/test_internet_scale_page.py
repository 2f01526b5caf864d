"""The page about a fleet for millions of agents is made of the unit costs as they are kept, and quotes nothing else."""

import re

from pages import ROOT

from om_bench.fleet import report, unit_costs
from om_bench.fleet.load import Ground, Load

PAGE = (ROOT / "docs/internet-scale.md").read_text()
_BLOCK = re.compile(r"<!-- fleet -->\n(.*?)<!-- /fleet -->", re.DOTALL)


def test_the_tables_are_those_of_the_unit_costs_as_they_are_kept():
    found = report.measure(unit_costs.read(), Load(), Ground(), (1e6, 1e7, 1e8))
    written = _BLOCK.search(PAGE)

    assert written
    assert written[1] == "\n".join(report.as_lines(found)).rstrip() + "\n", (
        "run om bench fleet --write docs/internet-scale.md"
    )


def test_what_the_text_says_of_figures_stands_in_the_tables():
    """A number with a unit in the text would be forgotten when the tables are made anew."""
    text = _BLOCK.sub("", PAGE)

    assert re.findall(r"\$\s?\d|\d+(?:\.\d+)? (?:TB|GB|ms|us)\b|\d %", text) == []
