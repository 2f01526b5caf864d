"""docs/compatibility.md: every extra with what pyproject.toml says it brings, and a row for each framework."""

import re
import tomllib

from compat.frameworks import _MUST, FRAMEWORKS
from pages import ROOT, table

from om_api.domain.extras import EXTRAS

PAGE = (ROOT / "docs" / "compatibility.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BROUGHT = table(PAGE.partition("## ")[0])


def names(requirements):
    return {re.match(r"[\w-]+", each)[0] for each in requirements if not each.startswith("cortex-om")}


def test_every_extra_is_told_with_what_it_brings():
    told = {name.partition("[")[2].rstrip("]"): set(re.findall(r"[\w-]+", text)) for name, text in BROUGHT.items()}

    assert set(BROUGHT) >= {f"cortex-om[{extra}]" for extra in EXTRAS} | {"cortex-om", "cortex-om[all]"}
    assert told[""] == names(PROJECT["dependencies"])
    for extra in EXTRAS:
        assert names(PROJECT["optional-dependencies"][extra]) <= told[extra]


def test_the_only_upper_bound_is_the_one_that_the_page_names_and_has_a_reason_beside_it():
    lines = (ROOT / "pyproject.toml").read_text().partition("\n[project.scripts]")[0].splitlines()
    bounded = [line for line in lines if re.search(r'"[^"]*<\d', line)]

    assert [re.findall(r"celery|<[\d.]+", line) for line in bounded] == [["celery", "<5.7"]]
    assert "celery<5.7" in PAGE
    assert "  # " in bounded[0]


def test_the_client_works_beside_every_framework_that_it_must_work_beside():
    rows = re.findall(
        r"^\| (\S+) \| [^|]+ \| (.+) \|$",
        PAGE.partition("<!-- compat -->")[2].partition("<!-- /compat -->")[0],
        re.MULTILINE,
    )

    assert [name for name, _ in rows if name in FRAMEWORKS] == list(FRAMEWORKS)
    assert {name for name, said in rows if said == "ok"} >= _MUST
