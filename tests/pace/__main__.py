"""`make limits MINUTES=3`: two workers with 32 threads each under one limit of 60 calls a minute; fails outside 54 to 60."""

import argparse
import sys

from pace.run import Run, measure

_LEAST = 0.9  # of the limit: what is allowed shall be used


def main() -> int:
    parser = argparse.ArgumentParser(prog="make limits", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--per-minute", type=int, default=60)
    asked = parser.parse_args()
    counted, saw = measure(Run(asked.minutes * 60, asked.per_minute))
    well = _LEAST * asked.per_minute <= counted.fewest and counted.most <= asked.per_minute
    shown = (
        f"calls: {counted.calls}; in any window of 60 s: {counted.fewest} to {counted.most} (limit {asked.per_minute})"
    )
    print(shown, *saw, "passed" if well else "FAILED", sep="\n")  # noqa: T201
    return not well


if __name__ == "__main__":
    sys.exit(main())
