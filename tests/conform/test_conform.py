"""A short round of what `make conform` does for longer: no server error, and every reply as the document says.

Without the values at the edges of every schema ("coverage"), which are three thousand requests: those are `make conform`'s.
"""

import re

import pytest

from conform.house import ask_everything, opened


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_whatever_is_asked_is_answered_as_the_document_says(tmp_path):
    with opened(tmp_path / "api.log") as door:
        phases = ("--phases", "examples,fuzzing,stateful")
        found = ask_everything(door, tmp_path, "-n", "3", *phases, "--seed", "1", "--generation-deterministic")

    assert found.returncode == 0, found.stdout[-5000:] + found.stderr
    selected, of, tested = re.search(r"Selected: (\d+)/(\d+)\n  Tested: (\d+)", found.stdout).groups()
    assert selected == of == tested
    assert re.search(r"API Links: +[1-9]", found.stdout), "nothing was asked of what an earlier reply named"
    assert '"status": 5' not in (tmp_path / "api.log").read_text()
