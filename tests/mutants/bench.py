"""A copy of the tree in which one mutant at a time is tested; the tree itself is never touched."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from processes import inherited
from servers import Server

from mutants.mutant import Mutant

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".om", "dist", "build", ".*_cache", ".hypothesis")
_SEEDS = "8"  # of the interleavings; each takes seconds
LONGEST_S = 600.0


class Bench:
    """One copy, a server of its own, and the processes that have the tests ready."""

    def __init__(self, root: Path, folder: Path, files: Sequence[str] = ()) -> None:
        self.folder = folder / "tree"
        shutil.copytree(root, self.folder, ignore=_NOT_COPIED)
        (data := folder / "data").mkdir()
        self._server = Server(data, "--appendonly", "no")
        self._server.start()
        self._files = files
        self._stands: dict[str, subprocess.Popen[str]] = {}

    def killer(self, mutant: Mutant | None, tests: Mapping[str, float], *, warm: bool) -> str:
        """The first of some tests that fails with a mutant in place ('' = none does); a hang is noticed as well.

        `tests` by how long each may take, in seconds.
        """
        if mutant is None:
            return str(self._ask(None, tests, warm=warm)["killer"])
        target = self.folder / mutant.path
        times = target.stat().st_mtime_ns
        _write(target, mutant.mutated(), times + 10**12)  # compiled files are known by time and size
        try:
            return str(self._ask(mutant, tests, warm=warm)["killer"])
        finally:
            _write(target, mutant.source, times)

    def watch(self, files: Sequence[str]) -> dict[str, Any]:
        """Run some files' tests as the tree is: the first that fails, how long each took, and what it ran."""
        return self._ask(None, {}, warm=True, files=files)

    def close(self) -> None:
        """End everything that was started."""
        for stand in self._stands.values():
            _end(stand)
        self._server.kill()

    def environment(self) -> dict[str, str]:
        """What the tests run with: this copy's packages before those that are installed, and this bench's server."""
        paths = [self.folder, self.folder / "tests", Path(__file__).parent.parent]
        ours = {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COVERAGE_CORE": "ctrace",
        }
        return {**inherited(), **ours, "FUZZ_SEEDS": _SEEDS, "OM_TEST_REDIS_URL": self._server.url}

    def _ask(
        self, mutant: Mutant | None, tests: Mapping[str, float], *, warm: bool, files: Sequence[str] = ()
    ) -> dict[str, Any]:
        self._refresh()
        asked = {
            "path": mutant.path if mutant else "",
            "source": mutant.source if mutant else "",
            "mutated": mutant.mutated() if mutant else "",
            "tests": list(tests),
            "seconds": tests,
            "files": files,
            "watch": bool(files),
            "limit": min(LONGEST_S, sum(tests.values())) if tests else LONGEST_S,
        }
        stand = self._stand("warm" if warm else "cold")
        print(json.dumps(asked), file=stand.stdin, flush=True)
        return self._said(stand)

    def _stand(self, mode: str) -> subprocess.Popen[str]:
        if mode not in self._stands:
            files = self._files if mode == "warm" else ()
            self._stands[mode] = subprocess.Popen(
                [sys.executable, "-m", "mutants.stand", str(self.folder), mode, *files],
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            self._said(self._stands[mode])  # it is ready
        return self._stands[mode]

    def _said(self, stand: subprocess.Popen[str]) -> dict[str, Any]:
        line = stand.stdout.readline() if stand.stdout else ""
        if not line:
            raise RuntimeError(f"the tests cannot be collected: run `pytest --collect-only` ({stand.wait(10)})")
        said = dict(json.loads(line))
        if "broken" in said:
            raise RuntimeError(said["broken"])
        return said

    def _refresh(self) -> None:
        """An empty server; a mutant of a script may have made the last one hang."""
        with self._server.client() as client, contextlib.suppress(Exception):
            client.connection_pool.connection_kwargs["socket_timeout"] = 2
            client.flushall()
            client.config_resetstat()
            return
        self._server.kill()
        self._server.start()


def _write(target: Path, text: str, time_ns: int) -> None:
    target.write_text(text, "utf-8")
    os.utime(target, ns=(time_ns, time_ns))


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in filter(None, (process.stdin, process.stdout)):
        with contextlib.suppress(OSError):  # what was not sent any more
            pipe.close()
