"""`make scale MINUTES=5`: the storm on every topology that can be run here; fails if a promise broke or too little was seen."""

import argparse
import sys
from pathlib import Path

from arguments import positive
from reports import read_block, write_block

from scale.topologies import TOPOLOGIES, ran, run_of, table

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make scale", description=__doc__)
    parser.add_argument("--minutes", type=positive(float), default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a topology's name")
    parser.add_argument("--write", action="store_true", help="write the table into docs/scale.md")
    asked = parser.parse_args()
    chosen = [each for each in TOPOLOGIES if asked.only.lower() in each.name.lower()]
    if not chosen:
        parser.error(f"no topology is called {asked.only!r}; choose from {'; '.join(each.name for each in TOPOLOGIES)}")
    missing = [f"{each.name} was not run: {each.missing}" for each in chosen if each.missing]
    runs, failures = {}, []
    for each in chosen:
        if not each.missing:
            print(f"-- {each.name}", flush=True)  # noqa: T201
            runs[each.name], why = ran(each, run_of(each, asked.minutes * 60, asked.seed))
            failures += [f"{each.name}: {line}" for line in why]
    shown = "\n".join([table(runs), *(f"\n{line}." for line in missing)])
    print(shown, *(["FAILED", *failures] if failures else ["passed"]), sep="\n")  # noqa: T201
    if asked.write and not failures:
        write_block("scale", table(runs, read_block("scale", _PAGE)), _PAGE)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
