"""docs/frameworks.md: a row and a page for every adapter, an extra for each, and a row of what it was tested with."""

import re
import tomllib

import pytest
from adapters.frameworks import FRAMEWORKS
from pages import ROOT

PAGE = (ROOT / "docs" / "frameworks.md").read_text()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
ADAPTERS = {path.stem for path in (ROOT / "om_api" / "integrations").glob("*.py")}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_has_a_row_a_page_an_extra_and_an_adapter(name):
    framework = FRAMEWORKS[name]
    page = (ROOT / "docs" / "frameworks" / f"{name}.md").read_text()

    assert f"(frameworks/{name}.md) | `{framework.extra}` |" in PAGE
    assert f"cortex-om[{framework.extra}]" in page
    assert framework.extra in EXTRAS
    assert name in ADAPTERS
    for told in ("resource", "thread", "fail_open"):
        assert told in page


def test_every_page_is_a_frameworks():
    pages = {path.stem for path in (ROOT / "docs" / "frameworks").glob("*.md")}

    assert pages == {*re.findall(r"\(frameworks/([\w-]+)\.md\)", PAGE)}
    assert pages >= {*FRAMEWORKS}


def test_what_each_was_tested_with_is_told():
    told = (ROOT / "docs" / "compatibility.md").read_text().partition("<!-- adapters -->")[2]
    rows = re.findall(r"^\| (\S+) \| \d[^|]+ \| \d+ s \| ok \|$", told, re.MULTILINE)

    assert rows == [*FRAMEWORKS]
