"""The page of figures is whole, its pictures are there, and the README quotes only from it."""

import re

import pytest
from pages import ROOT, section

PAGE = (ROOT / "docs/benchmarks.md").read_text()
README = (ROOT / "README.md").read_text()
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.mark.parametrize(
    "block",
    ["speed", "backlog", "drain", "scale", "scale-three", "cost", "recall", "memory", "published", "longmemeval"],
)
def test_every_command_has_written_its_table(block):
    written = PAGE.partition(f"<!-- {block} -->")[2].partition(f"<!-- /{block} -->")[0]

    assert re.search(r"^\|---\|", written, re.MULTILINE)
    assert len(NUMBER.findall(written)) > 5


def test_every_picture_of_the_page_is_there():
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)

    assert len(shown) == 3
    assert [name for name in shown if not (ROOT / "docs" / name).is_file()] == []


def test_every_figure_of_the_readme_stands_on_the_page():
    quoted = NUMBER.findall(section(README, "What it is worth"))

    assert len(quoted) > 8
    assert set(quoted) - set(NUMBER.findall(PAGE)) == set()
