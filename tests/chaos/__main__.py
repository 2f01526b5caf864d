"""`make chaos MINUTES=3`: run it, print the table, fail if a promise broke or too little was seen."""

import argparse
import sys

from reports import write_block

from chaos import clock, report
from chaos.plan import FULL_SECONDS, Least, Run
from chaos.run import chaos

_KILLS = 6  # of workers in a minute, where there is an archive: some die all at once too
_GENERATIONS = 5  # in a minute there
_DUE = 200  # memories without a worker, where there is an archive: another promise is held then


def run_of(minutes: float, seed: int, fsync: str, archive: str = "") -> Run:
    """A run of some minutes; one that is longer than three must see the more, a shorter one no less.

    With an archive one that is shorter sees less, and is compared with none: what was erased in part is observed again.
    """
    share, least = minutes * 60 / FULL_SECONDS, Least()
    share = share if archive else max(1.0, share)
    longer = least._replace(kills=round(least.kills * share), messages=round(least.messages * share))
    if not archive:
        return Run(minutes * 60, seed, fsync, longer)
    made = {"kills": round(_KILLS * minutes), "generations": round(_GENERATIONS * minutes)}
    fewer = longer._replace(**made, restarts=2, migrations=0, due=_DUE)
    return Run(minutes * 60, seed, fsync, fewer, archive=archive, compares=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--archive", choices=("sqlite", "postgres"), default="", help="where what is old goes at once")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    asked = parser.parse_args()
    clock.ahead(0)  # says at once that the library is missing
    result = chaos(run_of(asked.minutes, asked.seed, asked.fsync, asked.archive))
    shown = report.archive_table(result.seen) if asked.archive else report.table(result.seen)
    print(shown, *(["FAILED", *result.failures] if result.failures else ["passed"]), sep="\n")  # noqa: T201
    if asked.write and not result.failures:
        of = asked.archive or ("" if asked.fsync == "always" else asked.fsync)
        write_block(f"chaos-{of}" if of else "chaos", shown)
    return bool(result.failures)


if __name__ == "__main__":
    sys.exit(main())
