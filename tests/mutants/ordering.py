"""In which order tests are asked, so that most mutants are found in seconds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS = ("tests/om_api/store", "tests/om_workers", "tests/promises", "tests/faults")
_LAST = ("interleavings", "fuzz")  # seeded runs find much and take long
_NEVER = ("chaos", "outages", "command_line", "/llm/", "/prompts/")  # slow, or of rooms that no guard stands in


def files_for(root: Path, path: str) -> list[str]:
    """The test files for a mutant of `path`: those that mention its script or module most, the rest, seeded runs last."""
    stem = path.rpartition("/")[2].partition(".")[0]
    word = re.compile(rf"(?<![a-z]){stem}")
    ranked = []
    for place, folder in enumerate(_FOLDERS):
        for file in sorted((root / folder).rglob("test_*.py")):
            name = file.relative_to(root).as_posix()
            if not any(part in name for part in _NEVER):
                mentions = len(word.findall(file.read_text("utf-8"))) if place < 2 else 0
                ranked.append((any(part in name for part in _LAST), -mentions, place, name))
    return [name for *_, name in sorted(ranked)]
