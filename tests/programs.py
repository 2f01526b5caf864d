"""Programs of the machine that tests run: what a laptop lacks is skipped there, and fails in CI, which installs it."""

import os
import shutil

import pytest


def program(name: str) -> str:
    """The path of a program."""
    if found := shutil.which(name):
        return found
    missing = f"{name} is not installed: .ci/run says which package of the system brings it"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)
