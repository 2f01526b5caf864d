"""`make chaos MINUTES=3`: run it, print the table, fail if a promise broke or too little was seen."""

import argparse
import sys

from arguments import positive
from reports import write_block

from chaos import report
from chaos.plan import FULL_SECONDS, Least, Run
from chaos.run import chaos
from chaos.server import faketime


def run_of(minutes: float, seed: int, fsync: str, archive: str = "") -> Run:
    """A run of some minutes; one that is longer than three must see the more, a shorter one no less.

    With an archive one that is shorter sees less, and is compared with none: what was erased in part is observed again. There
    some workers die all at once too.
    """
    share = minutes * 60 / FULL_SECONDS
    share, least = share if archive else max(1.0, share), Least()
    least = least._replace(kills=round(least.kills * share), messages=round(least.messages * share))
    if archive:
        made = {"kills": round(6 * minutes), "generations": round(5 * minutes)}
        least = least._replace(**made, restarts=2, migrations=0, due=200)
    return Run(minutes * 60, seed, fsync, least, archive=archive, compares=not archive)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=positive(float), default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--archive", choices=("sqlite", "postgres"), default="", help="where what is old goes at once")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    asked = parser.parse_args()
    if not faketime():
        sys.exit("libfaketime was not found: apt-get install libfaketime, or name it by OM_CHAOS_FAKETIME")
    result = chaos(run_of(asked.minutes, asked.seed, asked.fsync, asked.archive))
    shown = report.table(result.seen)
    print(shown, *(["FAILED", *result.failures] if result.failures else ["passed"]), sep="\n")  # noqa: T201
    if asked.write and not result.failures:
        of = asked.archive or ("" if asked.fsync == "always" else asked.fsync)
        write_block(f"chaos-{of}" if of else "chaos", shown)
    return bool(result.failures)


if __name__ == "__main__":
    sys.exit(main())
