"""What only one framework has, checked in its environment."""

import os
import subprocess

import pytest

from adapters.conftest import ASKED
from adapters.frameworks import FRAMEWORKS, HERE


@pytest.mark.parametrize("name", [each.stem for each in (HERE / "particulars").glob("[a-z]*.py") if each.stem in ASKED])
def test_what_only_this_framework_has_holds(name, server_url, prefix):
    own = {key: text for key, text in os.environ.items() if not key.startswith(("OM_", "PYTHON"))}
    done = subprocess.run(
        [FRAMEWORKS[name].python, "-m", f"particulars.{name}"],
        cwd=HERE,
        env={**own, "OM_REDIS_URL": server_url, "OM_PREFIX": prefix},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("check_") == (HERE / "particulars" / f"{name}.py").read_text().count("def check_")
