"""The command behind `make mutants`."""

# ruff: noqa: T201 -- a command line prints

import argparse
import signal
import sys
from pathlib import Path

from reports import write_block

from mutants.generating import SHARE, broad, complete, drawn
from mutants.judging import Verdict, equivalents, judge, report
from mutants.mutant import Mutant
from mutants.results import Results
from mutants.running import BaselineError, Run

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = ROOT / ".pytest_cache" / "mutants"
LOWEST_SCORE = 0.80


def main() -> int:
    """Run the mutants and report the survivors; 0 when enough are noticed and the list of equivalents is right."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; run it again to resume"))
    always, many = complete(ROOT), broad(ROOT)
    chosen = [*always, *(many if asked.all or asked.only else drawn(many, SHARE))]
    mutants = [mutant for mutant in chosen if asked.only in mutant.id]
    if not mutants:
        print(f"no mutant's id contains {asked.only!r}: --list shows them all", file=sys.stderr)
        return 2
    if asked.list:
        print(*(f"{mutant.path}:{mutant.line} {mutant.id}" for mutant in mutants), sep="\n")
        return 0
    results, listed = Results(ROOT, KNOWN / "results.json"), equivalents()
    try:
        with Run(ROOT, KNOWN / "ran", results, asked.jobs, _say) as run:
            run.watch()
            run.test(mutants)
    except BaselineError as error:
        print(error, file=sys.stderr)
        return 2
    verdict = judge(mutants, results.found, listed, {mutant.id for mutant in [*always, *many]})
    _show(verdict)
    if asked.write and not asked.only:
        write_block("mutants", report(verdict, listed, len(many) - len(mutants) + len(always)))
    return 1 if verdict.score < LOWEST_SCORE or verdict.wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mutants", description="Make every small mistake once, and see whether a test notices."
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants are tested at a time")
    parser.add_argument("--only", default="", help="a part of the ids of those to test: a file's name, or a whole id")
    parser.add_argument("--all", action="store_true", help="all mutants of the rooms that are drawn from otherwise")
    parser.add_argument("--write", action="store_true", help="write the report into docs/reliability.md")
    parser.add_argument("--list", action="store_true", help="print the ids and test nothing")
    return parser.parse_args()


def _say(mutant: Mutant, killer: str) -> None:
    print(f"{'noticed ' if killer else 'SURVIVED'} {mutant.id}  [line {mutant.line}] {killer}", flush=True)


def _show(verdict: Verdict) -> None:
    for mutant in verdict.unlisted:
        print(f"\nSurvived: {mutant.id}\n{mutant.diff()}")
    print(*verdict.wrong, sep="\n")
    numbers = f"{len(verdict.killed)} noticed, {len(verdict.equivalent)} equivalent, {len(verdict.unlisted)} unnoticed"
    score = f"{verdict.score:.1%} of those that can be noticed; {LOWEST_SCORE:.0%} are required"
    print(f"{sum(len(group) for group in verdict[:3])} mutants: {numbers} ({score})")


sys.exit(main())
