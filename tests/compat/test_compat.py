"""How `make compat` reads pip's answers, and that its environments hold what was asked for and nothing else."""

import pytest

from compat import frameworks
from compat.installing import Environment, reason

CONFLICT = """\
ERROR: Cannot install cortex-om and crewai==1.15.30 because these package versions have conflicting dependencies.

The conflict is caused by:
    cortex-om 0.1.0 depends on pydantic>=2.13
    crewai 1.15.30 depends on pydantic<2.13 and >=2.11.9

To fix this you could try to:
1. loosen the range of package versions you've specified

ERROR: ResolutionImpossible: for help visit the documentation
"""
NONE = """\
ERROR: Could not find a version that satisfies the requirement nobody==1 (from versions: 0.1, 0.2)
ERROR: No matching distribution found for nobody==1
"""


def test_the_reason_is_which_requirements_contradict_each_other():
    assert reason(CONFLICT) == (
        "cortex-om 0.1.0 depends on pydantic>=2.13; crewai 1.15.30 depends on pydantic<2.13 and >=2.11.9"
    )
    assert reason(NONE) == "No matching distribution found for nobody==1"
    assert reason("killed") == "killed"


class Index:
    """An index whose 2.0 cannot be completed, and whose 1.9 contradicts `forbidden`; plays the environment, too."""

    def __init__(self, *together: str) -> None:
        self.together = together

    def install(self, *requirements, dry=False):
        asked = requirements[-1]
        return "" if asked in self.together or (dry and asked != "it==2.0") else f"{asked} contradicts"

    def run(self, *words, **environ):
        return ""


@pytest.mark.parametrize(
    ("together", "expected"),
    [
        (["it==2.0", "it==1.9"], ("2.0", "ok")),
        (["it==1.9"], ("1.9; of newer ones the index lacks a part", "ok")),
        (["it==1.8"], ("1.9; of newer ones the index lacks a part", "it==1.9 contradicts")),
    ],
)
def test_an_older_version_is_taken_only_where_the_newest_cannot_be_installed_by_itself(monkeypatch, together, expected):
    monkeypatch.setattr(frameworks, "versions", lambda name: ["2.0", "1.9", "1.8"])
    monkeypatch.setitem(frameworks.FRAMEWORKS, "it", "it")
    found = frameworks._beside("it", Index(*together), "cortex.whl", "redis://nowhere")

    assert (found.version, found.said) == expected


def test_code_runs_in_an_environment_of_its_own(tmp_path):
    place = Environment(tmp_path)

    assert place.run("import sys, os; assert sys.prefix == sys.argv[1]", str(tmp_path)) == ""
    assert place.run("import om_api").startswith("ModuleNotFoundError")
