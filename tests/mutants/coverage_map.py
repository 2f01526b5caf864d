"""What every test ran when nothing was wrong: found once, file by file, and kept until one of the files is edited."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mutants.digests import Digests

_FOLDERS = ("tests/om_api", "tests/om_workers", "tests/promises", "tests/faults")
# what starts processes, which are not watched, or measures: none of it notices in a second what others do not
_NEVER = (
    "/bench/",
    "outages",
    "test_demo",
    "test_up.",
    "test_embedded",
    "commands/test_api.",
    "command_line",
    "without_their_guard",
)
_NOT_ASKED = ("fakeredis",)  # what a fake server would notice, the real one notices too


class Ran(NamedTuple):
    """How long a test took, the lines that it ran of each file, as bits, and the scripts."""

    seconds: float
    lines: dict[str, int]
    scripts: frozenset[str]


def is_asked(test: str) -> bool:
    """Whether a test is tried with mutants."""
    return not any(part in test for part in _NOT_ASKED)


def bits(lines: Iterable[int]) -> int:
    """Numbers of lines as bits."""
    found = 0
    for line in lines:
        found |= 1 << line
    return found


def test_files(root: Path) -> list[str]:
    """The files of tests that mutants are tried with."""
    every = [
        file.relative_to(root).as_posix() for folder in _FOLDERS for file in sorted((root / folder).rglob("test_*.py"))
    ]
    return [name for name in every if not any(part in name for part in _NEVER)]


class CoverageMap:
    """By file of tests, on disk; safe to use from several threads as long as each has files of its own."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self._digests = Digests(root)
        folder.mkdir(parents=True, exist_ok=True)

    def missing(self) -> list[str]:
        """The files whose tests have to be watched, again."""
        return [name for name in test_files(self._root) if self._read(name) is None]

    def keep(self, name: str, watched: dict[str, Any]) -> None:
        """Write down what a file's tests did."""
        product = sorted({path for saw in watched["saw"].values() for path in saw["lines"]})
        known = {"grounds": self._grounds(name, product), "product": product, "tests": {}}
        for test, seconds in watched["took"].items():
            saw = watched["saw"].get(test, {"lines": {}, "scripts": []})
            known["tests"][test] = {"seconds": round(seconds, 4), **saw}
        self._file(name).write_text(json.dumps(known))

    def ran(self) -> dict[str, Ran]:
        """Every test that may be asked."""
        tests = {test: saw for name in test_files(self._root) for test, saw in (self._read(name) or {}).items()}
        return {test: _ran(saw) for test, saw in tests.items() if is_asked(test)}

    def _read(self, name: str) -> dict[str, Any] | None:
        file = self._file(name)
        known = json.loads(file.read_text()) if file.exists() else {"grounds": "", "product": []}
        return known["tests"] if known["grounds"] == self._grounds(name, known["product"]) else None

    def _grounds(self, name: str, product: list[str]) -> str:
        return self._digests.of([name, *product, *self._digests.scripts()]) + self._digests.shared()

    def _file(self, name: str) -> Path:
        return self._folder / f"{name.replace('/', '.')}.json"


def _ran(saw: dict[str, Any]) -> Ran:
    lines = {path: int(text, 16) for path, text in saw["lines"].items()}
    return Ran(saw["seconds"], lines, frozenset(saw["scripts"]))
