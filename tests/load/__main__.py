"""`make load MINUTES=10`: run it, print the tables, fail if a promise broke or too little was seen."""

import argparse
import sys

from arguments import positive
from reports import write_block

from load import report
from load.plan import Run
from load.run import load


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--minutes", type=positive(float), default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=Run().rate, help="requests a second that are asked for")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/reliability.md")
    asked = parser.parse_args()
    result = load(Run(asked.minutes * 60, asked.seed, asked.rate))
    shown = report.tables(result.seen)
    print(shown, *(["FAILED", *result.failures] if result.failures else ["passed"]), sep="\n")  # noqa: T201
    if asked.write and not result.failures:
        write_block("load", shown)
    return bool(result.failures)


if __name__ == "__main__":
    sys.exit(main())
