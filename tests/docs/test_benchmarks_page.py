"""The page of figures is whole, its pictures are there, and the README quotes only from it."""

import re

import pytest
from pages import ROOT, section

PAGE = (ROOT / "docs/benchmarks.md").read_text()
README = (ROOT / "README.md").read_text()
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.mark.parametrize(
    "block",
    [
        "speed",
        "backlog",
        "drain",
        "scale",
        "scale-three",
        "cost",
        "recall",
        "memory",
        "chained",
        "published",
        "longmemeval",
    ],
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


def bill(name):
    """What the first actor's block says of a line: fresh, cached, written, output, the memory's own two, dollars, factor."""
    bills = PAGE.partition("\n`claude-sonnet-4-6`\n")[2]
    row = re.search(rf"^\| {re.escape(name)} \| (.+) \|$", bills, re.MULTILINE)[1]
    return [float(cell.replace(",", "")) for cell in row.split(" | ")]


def test_the_sum_of_what_a_memory_costs_is_that_of_its_bill():
    whole, ours = bill("full history, cached"), bill("memory, as shipped: extractive")
    fresh, cached, written, output, *_, dollars, _ = ours
    rows = [row.rpartition(" | ")[2] for row in re.findall(r"^\| (.+) \|$", section(PAGE, "Cost"), re.MULTILINE)]
    prices = [whole[2] * 3.75, output * 15, (written - whole[2]) * 3.75, fresh * 3, cached * 0.3]

    assert rows[-5:] == [f"{tokens / 1e6:.2f}" for tokens in prices]
    assert round(sum(prices) / 1e6, 2) == dollars
