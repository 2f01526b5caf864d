"""Running mutants, several at a time, each on a bench of its own."""

import queue
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from mutants.bench import Bench
from mutants.coverage_map import CoverageMap, test_files
from mutants.mutant import Mutant
from mutants.ordering import Order
from mutants.results import Results

MOST = 100  # tests for each mutant at first
_PATIENCE_S = 120.0
_FEW = 8
_EVERYTHING = 10_000  # and for one that they do not notice and nobody has explained


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
            raise BaselineError(f"{', '.join(failed)} fails without any mutant: mend it first, then repeat.")
        self._order = Order(self._root, self._map.ran())

    def test(self, mutants: Sequence[Mutant], explained: Iterable[str]) -> None:
        """Test what `results` does not know yet; what nobody notices and nobody explained is tried with everything there is."""
        self._all(self._tested, mutants)
        left = [m for m in mutants if not self._results.found[m.id] and m.id not in set(explained)]
        self._all(self._tried, left)

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
        self._judged(bench, mutant, every=False)

    def _tried(self, bench: Bench, mutant: Mutant) -> None:
        self._judged(bench, mutant, every=True)

    def _judged(self, bench: Bench, mutant: Mutant, *, every: bool) -> None:
        asked = self._order.of(mutant, _EVERYTHING if every else MOST, self._results.hints.get(mutant.id, ""))
        if self._results.recall(mutant, asked.tests, every=every):
            return
        killer = _killer(bench, mutant, asked.tests, warm=asked.warm and not every)
        self._results.keep(mutant, killer, asked.tests, every=every)
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
