"""`make adapters`: install each framework in its newest version, run the suite, print the table; fails where one does."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from reports import write_block

from adapters.frameworks import FRAMEWORKS, ROOT

PAGE = ROOT / "docs" / "compatibility.md"
_HEAD = ["| framework | version | installed in | the suite |", "| --- | --- | --- | --- |"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make adapters", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[[], *FRAMEWORKS], metavar="framework", help="default: all")
    parser.add_argument("--jobs", default="2", help="processes of tests at once")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    asked = parser.parse_args()
    named, rows = [FRAMEWORKS[name] for name in asked.only or FRAMEWORKS], {}
    for each in named:
        began = time.monotonic()
        try:
            each.install()
        except subprocess.CalledProcessError as error:
            print(f"{each.name} cannot be installed: {error}")  # noqa: T201
            continue
        rows[each.name] = f"| {each.name} | {each.version} | {time.monotonic() - began:.0f} s |"
        print(rows[each.name], flush=True)  # noqa: T201
    environ = {**os.environ, "ADAPTERS": " ".join(rows)}
    command = [sys.executable, "-m", "pytest", "-n", asked.jobs, "--dist", "load", str(Path(__file__).parent)]
    passed = bool(rows) and not subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode
    table = "\n".join([*_HEAD, *(f"{row} {'ok' if passed else 'failed'} |" for row in rows.values())])
    print(table)  # noqa: T201
    if asked.write and passed and len(rows) == len(FRAMEWORKS):
        write_block("adapters", table, PAGE)
    return not (passed and len(rows) == len(named))


if __name__ == "__main__":
    sys.exit(main())
