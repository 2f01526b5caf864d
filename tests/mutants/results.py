"""What is known already: a run that was stopped goes on where it was, and an edited file has only its own mutants tried again."""

import hashlib
import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mutants.mutant import Mutant

_FOLDERS = ("tests/om_api", "tests/om_workers", "tests/promises", "tests/faults")
# what starts processes, which are not watched, or measures: none of it notices in a second what others do not
_NEVER = ("outages", "test_demo", "test_up.", "test_embedded", "commands/test_api.")


class Ran(NamedTuple):
    """How long a test took, the lines that it ran of each file, as bits, and the scripts."""

    seconds: float
    lines: dict[str, int]
    scripts: frozenset[str]


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
        known = [self._read(name) or {} for name in test_files(self._root)]
        return {test: _ran(saw) for tests in known for test, saw in tests.items()}

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


_PATTERNS = ("om_api/**/*.py", "om_api/**/*.lua", "om_workers/**/*.py", "tests/**/*.py")


class Digests:
    """By path, seen from the tree's root."""

    def __init__(self, root: Path) -> None:
        files = [file for pattern in _PATTERNS for file in root.glob(pattern)]
        self._of = {file.relative_to(root).as_posix(): _digest(file.read_bytes()) for file in files}

    def of(self, paths: Iterable[str]) -> str:
        """What some files held, in one word; a file that is not there has one too."""
        return _digest("".join(f"{path} {self._of.get(path)} " for path in sorted(paths)).encode())

    def shared(self) -> str:
        """What the tests share."""
        return self.of(path for path in self._of if path.startswith("tests/") and not _is_own(path))

    def scripts(self) -> list[str]:
        """Every script."""
        return [path for path in self._of if path.endswith(".lua")]


def _is_own(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_") or path.startswith("tests/mutants/")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


_WRITTEN_EVERY_S = 5.0


class Results:
    """Who noticed which mutant ('' = nobody), as far as it holds for the tree as it is; safe to use from several threads.

    That a test noticed a mutant holds while its file and the test's are what they were; that nobody did, while its file is and
    all files of tests that were asked are. `hints` say who noticed what once.
    """

    def __init__(self, root: Path, file: Path) -> None:
        self._file, self._guard, self._digests = file, threading.Lock(), Digests(root)
        self._known: dict[str, list[str]] = json.loads(file.read_text()) if file.exists() else {}
        self._written = 0.0
        self.found: dict[str, str] = {}
        self.hints = {name: killer for name, (killer, _) in self._known.items()}

    def recall(self, mutant: Mutant, asked: Iterable[str]) -> bool:
        """Whether what is known of a mutant still holds; `asked` are the tests that would be asked about it."""
        killer, grounds = self._known.get(mutant.id, ("", ""))
        if holds := grounds == self._grounds(mutant, killer, asked):
            self.found[mutant.id] = killer
        return holds

    def keep(self, mutant: Mutant, killer: str, asked: Iterable[str]) -> None:
        """Write a result down, within seconds."""
        with self._guard:
            self.found[mutant.id] = killer
            self._known[mutant.id] = [killer, self._grounds(mutant, killer, asked)]
            if time.monotonic() > self._written + _WRITTEN_EVERY_S:
                self.write()

    def write(self) -> None:
        """Write all of them down now."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._known, indent=0))
        self._written = time.monotonic()

    def _grounds(self, mutant: Mutant, killer: str, asked: Iterable[str]) -> str:
        tests = {killer.partition("::")[0]} if killer else {name.partition("::")[0] for name in asked}
        return self._digests.of([mutant.path, *tests])
