"""`make compat`: install the client beside each framework, push and read there, print the table; fails where it must not."""

import argparse
import sys
import tempfile
from itertools import chain
from pathlib import Path

from reports import write_block

from compat.frameworks import FRAMEWORKS, beside_each, oldest, wheel
from om_api.cli.embedded import Embedded

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compatibility.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make compat", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[[], *FRAMEWORKS], metavar="framework", help="default: all")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    asked = parser.parse_args()
    rows = ["| beside | version | the client |", "| --- | --- | --- |"]
    print(*rows, sep="\n", flush=True)  # noqa: T201
    failed = False
    with tempfile.TemporaryDirectory() as folder, Embedded() as store:
        built = wheel(ROOT, Path(folder))
        for found in chain([oldest(ROOT, built, store.url)], beside_each(asked.only or FRAMEWORKS, built, store.url)):
            failed |= found.must_work and not found.works
            rows.append(f"| {found.name} | {found.version} | {found.said} |")
            print(rows[-1], flush=True)  # noqa: T201
    if asked.write and not asked.only and not failed:
        write_block("compat", "\n".join(rows), PAGE)
    return failed


if __name__ == "__main__":
    sys.exit(main())
