"""docs/reference-scenarios.md has a row for every scenario, and every test it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "reference-scenarios.md").read_text()
ROWS = {cells[0]: cells[2] for line in PAGE.splitlines() if len(cells := line.strip("| ").split(" | ")) == 3}
SCENARIOS = {name: text for name, text in ROWS.items() if name not in {"scenario", "---"}}
CATALOGUE = {
    f"{letter}{n}" for letter, last in {"B": 12, "C": 10, "D": 9, "E": 10, "G": 15}.items() for n in range(1, last + 1)
}
VECTORS = {"selection", "buffer trigger", "simulation", "dates", "cache lifetimes", "shortened notes", "loops"}


@cache
def functions(file):
    return {node.name for node in ast.parse((TESTS / file).read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_scenario_of_the_catalogue_has_one_row():
    names = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", PAGE, re.MULTILINE)

    assert set(SCENARIOS) == CATALOGUE | VECTORS
    assert len(names) - names.count("scenario") - names.count("---") == len(SCENARIOS)


def test_every_row_names_tests_that_exist_or_says_why_there_is_none():
    for name, says in SCENARIOS.items():
        found = re.findall(r"`([\w/]+\.py)::(test_\w+)`", says)

        assert found or re.match(r"no counterpart: \w.{20,}", says), name
        assert says.count("::") == len(found), name
        assert [f"{file}::{test}" for file, test in found if test not in functions(file)] == [], name
