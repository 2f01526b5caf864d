"""Running mutants, several at a time, each on a bench of its own."""

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from processes import inherited
from servers import Server

from mutants.mutant import Mutant
from mutants.ordering import Order
from mutants.results import CoverageMap, Results, test_files

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".om", "dist", "build", ".*_cache", ".hypothesis", ".nightly")
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
        return {**inherited(), **ours, "TEST_REDIS_URL": self._server.url}

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


MOST = 40  # tests for each mutant; they notice 96 % of what 100 do
_PATIENCE_S = 120.0
_FEW = 8


class BaselineError(Exception):
    """The tests fail without any mutant: nothing can be judged."""


def _killer(bench: Bench, mutant: Mutant, tests: dict[str, float], *, warm: bool) -> str:
    """Who notices; in a child that has to read the tests' files first, a few are asked by themselves."""
    first = {} if warm else dict(list(tests.items())[:_FEW])
    rest = {name: seconds for name, seconds in tests.items() if name not in first}
    return next((killer for some in (first, rest) if some and (killer := bench.killer(mutant, some, warm=warm))), "")


class Run:
    """Tests mutants on benches that are there as long as the block runs."""

    def __init__(self, root: Path, known: Path, results: Results, jobs: int, say: Callable[..., None]) -> None:
        self._root, self._jobs, self._results, self._say = root, jobs, results, say
        self._map = CoverageMap(root, known)
        self._benches: queue.Queue[Bench] = queue.Queue()

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="om-mutants-")
        every = [Bench(self._root, Path(self._folder.name) / str(n), test_files(self._root)) for n in range(self._jobs)]
        self._every = every
        for bench in every:
            self._benches.put(bench)
        return self

    def __exit__(self, *_: object) -> None:
        for bench in self._every:
            bench.close()
        self._results.write()
        self._folder.cleanup()

    def watch(self) -> None:
        """See what every test runs, where that is not known; raises BaselineError when one fails without a mutant."""
        failed = [name for name in self._all(self._watched, self._map.missing()) if name]
        if failed:
            raise BaselineError(f"{', '.join(failed)} fails without any mutant: fix it first, then run again.")
        self._order = Order(self._root, self._map.ran())

    def test(self, mutants: Sequence[Mutant]) -> None:
        """Test the mutants whose result is not known yet."""
        self._all(self._tested, mutants)

    def _watched(self, bench: Bench, name: str) -> str:
        watched = bench.watch([name])
        if "took" not in watched:
            return name
        failed = dict.fromkeys(watched["failed"], _PATIENCE_S)
        for test in failed:  # one that is only too slow while it is watched is asked nothing
            watched["took"].pop(test)
        self._map.keep(name, watched)
        return bench.killer(None, failed, warm=True) if failed else ""

    def _tested(self, bench: Bench, mutant: Mutant) -> None:
        asked = self._order.of(mutant, MOST, self._results.hints.get(mutant.id, ""))
        if self._results.recall(mutant, asked.tests):
            return
        killer = _killer(bench, mutant, asked.tests, warm=asked.warm)
        self._results.keep(mutant, killer, asked.tests)
        self._say(mutant, killer)

    def _all(self, work: Callable[[Bench, Any], Any], things: Sequence[Any]) -> list[Any]:
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                return list(pool.map(lambda thing: self._on_a_bench(work, thing), things))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for bench in self._every:
                    bench.close()
                raise

    def _on_a_bench(self, work: Callable[[Bench, Any], Any], thing: Any) -> Any:
        bench = self._benches.get()
        try:
            return work(bench, thing)
        finally:
            self._benches.put(bench)
