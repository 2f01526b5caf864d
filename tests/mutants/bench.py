"""A copy of the tree in which one mutant at a time is tested; the tree itself is never touched."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mutants.mutant import Mutant

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".om", "dist", "build", "__pycache__", ".*_cache", ".hypothesis")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_SEEDS = "50"
# a fake server is not asked: what it would notice, the real one notices too. Nor are tests that take out a guard themselves.
_ASKED = "not fakeredis and not taken_out"
_GREEN, _RED, _INTERRUPTED, _USAGE = 0, 1, 2, 4  # pytest's exit codes
LONGEST_S = 900.0


class Bench:
    """One copy; whoever has it tests one mutant after the other."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._running: subprocess.Popen[str] | None = None
        shutil.copytree(root, folder, ignore=_NOT_COPIED, dirs_exist_ok=True)

    def killer(self, mutant: Mutant | None, tests: Sequence[str], seconds: float = LONGEST_S) -> str:
        """The first test that fails with a mutant in place ('' = none does); a hang is noticed as well."""
        if mutant is None:
            return self._first_failure(tests, seconds)
        self._write(mutant.path, mutant.mutated())
        try:
            return self._first_failure(tests, seconds)
        finally:
            self._write(mutant.path, mutant.source)

    def stop(self) -> None:
        """End what is being tested, so that nothing of it outlives the command."""
        if self._running:
            _end(self._running)

    def environment(self) -> dict[str, str]:
        """What the tests run with: this copy's packages before those that are installed, and servers of their own."""
        named = {name: value for name, value in os.environ.items() if not name.startswith("OM_")}
        return {**named, "PYTHONPATH": str(self.folder), "FUZZ_SEEDS": _SEEDS}

    def _write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.write_text(text, "utf-8")
        # Python knows stale byte code by size and whole seconds, which a mutant may share
        for cached in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            cached.unlink()

    def _first_failure(self, tests: Sequence[str], seconds: float) -> str:
        code, said = self._pytest(tests, seconds)
        if code == _GREEN:
            return ""
        if code is None:
            return f"no end after {seconds:.0f} s"
        failed = _FAILED.search(said)
        if code in {_RED, _INTERRUPTED} and failed:
            return failed[1]
        raise RuntimeError(f"pytest ended with {code} and named no test:\n{said[-2000:]}")

    def _pytest(self, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--tb=no",
            "-rfE",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:schemathesis",
        ]
        with subprocess.Popen(
            [*command, "-k", _ASKED, *tests],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            self._running = process
            try:
                said, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return None, ""
            else:
                return process.returncode, said
            finally:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End the tests and every server they started: all of them are in the session that began with them."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
