"""Programs that tests run: those of the machine, and those that docs/redis-protocol.md shows.

What a laptop lacks is skipped there, and fails in CI, which installs it.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks

_PAGE = (ROOT / "docs" / "redis-protocol.md").read_text("utf-8")


def program(name: str) -> str:
    """The path of a program."""
    if found := shutil.which(name):
        return found
    missing = f"{name} was not found on PATH; .ci/nightly.py lists the Debian packages"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def protocol_program(name: str, language: str, folder: Path) -> list[str]:
    """The command that runs `say` or `reader` of the page in `js` or `python`, written into a folder."""
    runs, ending = (program("node"), "mjs") if language == "js" else (sys.executable, "py")
    (source,) = [block for block in blocks(_PAGE, language) if f" {name}.{ending} " in block.partition("\n")[0]]
    file = folder / f"{name}.{ending}"
    file.write_text(source, "utf-8")
    return [runs, str(file)]
