"""Running mutants, several at a time, each on a bench of its own."""

from __future__ import annotations

import queue
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.bench import LONGEST_S, Bench
from mutants.ordering import files_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mutants.mutant import Mutant
    from mutants.results import Results

BASELINE = "no mutant"
_PATIENCE = 4  # times as long as the tests take undisturbed; then it hangs
_LEAST_S = 120.0


class BaselineError(Exception):
    """The tests fail without any mutant: nothing can be judged."""


def run_all(
    root: Path, mutants: Sequence[Mutant], results: Results, jobs: int, say: Callable[[Mutant, str], None]
) -> None:
    """Test every mutant that `results` does not know yet; raises BaselineError when the tests fail without one."""
    with tempfile.TemporaryDirectory(prefix="om-mutants-") as folder:
        every = [Bench(root, Path(folder) / str(n)) for n in range(jobs)]
        benches: queue.Queue[Bench] = queue.Queue()
        for bench in every:
            benches.put(bench)
        seconds = _baseline(root, benches, results)

        def work(mutant: Mutant) -> None:
            mine = benches.get()
            try:
                killer = _killer(root, mine, mutant, results.hints.get(mutant.id, ""), seconds)
            finally:
                benches.put(mine)
            results.keep(mutant.id, killer)
            say(mutant, killer)

        with ThreadPoolExecutor(jobs) as pool:
            try:
                list(pool.map(work, [mutant for mutant in mutants if mutant.id not in results.found]))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for bench in every:
                    bench.stop()
                raise


def _baseline(root: Path, benches: queue.Queue[Bench], results: Results) -> float:
    """Run everything once as it is; the seconds after which a mutant counts as hanging."""
    if results.found.get(BASELINE):
        return float(results.found[BASELINE])
    bench, begun = benches.get(), time.monotonic()
    if failed := bench.killer(None, files_for(root, "")):
        raise BaselineError(f"{failed} fails without any mutant: mend it first, then repeat.")
    benches.put(bench)
    seconds = min(LONGEST_S, max(_LEAST_S, _PATIENCE * (time.monotonic() - begun)))
    results.keep(BASELINE, str(round(seconds)))
    return seconds


def _killer(root: Path, bench: Bench, mutant: Mutant, hint: str, seconds: float) -> str:
    """Who notices a mutant; asked first is who noticed it before the tree was edited."""
    if "::" in hint and (root / hint.partition("::")[0]).exists():
        try:
            if killer := bench.killer(mutant, [hint], seconds):
                return killer
        except RuntimeError:  # a test of that name is no more
            pass
    return bench.killer(mutant, files_for(root, mutant.path), seconds)
