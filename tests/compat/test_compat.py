"""Which version `make compat` takes, and that its environments hold what was asked for and nothing else."""

import pytest

from compat import frameworks
from compat.frameworks import Environment


class Index:
    """An index whose 2.0 cannot be completed, and whose 1.9 contradicts `forbidden`; plays the environment, too."""

    def __init__(self, *together: str) -> None:
        self.together = together

    def install(self, *requirements, dry=False):
        asked = requirements[-1]
        return "" if asked in self.together or (dry and asked != "it==2.0") else f"{asked} contradicts"

    def run(self, *words, **environ):
        return ""


def test_an_older_version_is_taken_only_where_the_newest_cannot_be_installed_by_itself(monkeypatch):
    monkeypatch.setattr(frameworks, "versions", lambda name: ["2.0", "1.9", "1.8"])
    monkeypatch.setitem(frameworks.FRAMEWORKS, "it", "it")
    older = "1.9; of newer ones the index lacks a part"
    for together, expected in (
        (["it==2.0", "it==1.9"], ("2.0", "ok")),
        (["it==1.9"], (older, "ok")),
        (["it==1.8"], (older, "it==1.9 contradicts")),
    ):
        found = frameworks._beside("it", Index(*together), "cortex.whl", "redis://nowhere")
        assert (found.version, found.said) == expected, together


@pytest.mark.nightly
def test_code_runs_in_an_environment_of_its_own(tmp_path):
    place = Environment(tmp_path)

    assert place.run("import sys, os; assert sys.prefix == sys.argv[1]", str(tmp_path)) == ""
    assert place.run("import om_api").startswith("ModuleNotFoundError")
