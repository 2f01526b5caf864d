"""`make chaos MINUTES=3`: run it, print the table, fail if a promise broke or too little was seen."""

import argparse
import sys

from reports import write_block

from chaos import clock, report
from chaos.plan import FULL_SECONDS, Least, Run
from chaos.run import chaos


def run_of(minutes: float, seed: int, fsync: str) -> Run:
    """A run of some minutes; one that is longer than three must see the more, a shorter one no less."""
    share, least = max(1.0, minutes * 60 / FULL_SECONDS), Least()
    longer = least._replace(kills=round(least.kills * share), messages=round(least.messages * share))
    return Run(minutes * 60, seed, fsync, longer)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    asked = parser.parse_args()
    clock.ahead(0)  # says at once that the library is missing
    result = chaos(run_of(asked.minutes, asked.seed, asked.fsync))
    shown = report.table(result.seen)
    print(shown, *(["FAILED", *result.failures] if result.failures else ["passed"]), sep="\n")  # noqa: T201
    if asked.write and not result.failures:
        write_block("chaos" if asked.fsync == "always" else "chaos-everysec", shown)
    return bool(result.failures)


if __name__ == "__main__":
    sys.exit(main())
