"""What is known already: a run that was stopped goes on where it was, and an edited tree asks first who noticed before."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PRODUCT = ("om_api/**/*", "om_workers/**/*", "config/**/*", "pyproject.toml")


class Results:
    """Who killed which mutant ('' = nobody), as far as it holds for the tree as it is; safe to use from several threads.

    That a test noticed a mutant holds while the product, that test's file and the code that tests share are what they
    were; that nobody did, and how long the tests take, while nothing is edited at all.
    """

    def __init__(self, root: Path, file: Path) -> None:
        self._file, self._guard = file, threading.Lock()
        self._evidence = Evidence(root)
        known = json.loads(file.read_text()) if file.exists() else {}
        found, grounds = known.get("found", {}), known.get("grounds", {})
        self.found: dict[str, str] = {
            name: killer for name, killer in found.items() if grounds.get(name) == self._evidence.of(killer)
        }
        self._grounds = {name: grounds[name] for name in self.found}
        self.hints: dict[str, str] = {**known.get("hints", {}), **found}

    def keep(self, name: str, killer: str) -> None:
        """Write a result down at once."""
        with self._guard:
            self.found[name] = killer
            self._grounds[name] = self._evidence.of(killer)
            self._file.parent.mkdir(exist_ok=True)
            self._file.write_text(
                json.dumps({"found": self.found, "grounds": self._grounds, "hints": self.hints}, indent=1)
            )


class Evidence:
    """What a result rests on, as a digest; the list of equivalents and what is compiled do not count."""

    def __init__(self, root: Path) -> None:
        tests = {name: digest for name, digest in _digests(root, "tests/**/*") if not name.startswith("tests/mutants/")}
        product = [digest for pattern in _PRODUCT for _, digest in _digests(root, pattern)]
        shared = [digest for name, digest in tests.items() if not _is_test(name)]
        self._tests = tests
        self._shared = _digest("".join([*product, *shared]).encode())
        self._all = _digest("".join([self._shared, *tests.values()]).encode())

    def of(self, killer: str) -> str:
        """What the word of a test (`file::name`) rests on; that of no test rests on everything."""
        file = killer.partition("::")[0]
        return _digest((self._shared + self._tests[file]).encode()) if file in self._tests else self._all


def _is_test(name: str) -> bool:
    return name.rpartition("/")[2].startswith("test_")


def _digests(root: Path, pattern: str) -> Iterator[tuple[str, str]]:
    for file in sorted(root.glob(pattern)):
        name = file.relative_to(root).as_posix()
        if file.is_file() and "__pycache__" not in name:
            yield name, _digest(name.encode() + b"\n" + file.read_bytes())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
