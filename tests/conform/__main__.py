"""`python -m conform --examples 300 --seed 1`: ask a real server everything, in many ways, and report."""

import argparse
import sys
import tempfile
from pathlib import Path

from conform.house import ask_everything, opened


def main() -> None:
    parser = argparse.ArgumentParser(prog="conform", description=__doc__)
    parser.add_argument("--examples", type=int, default=300, help="of each endpoint")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "api.log") as door:
        found = ask_everything(door, Path(folder), "-n", str(said.examples), "--seed", str(said.seed))
        sys.stdout.write(found.stdout + found.stderr)
    sys.exit(found.returncode)


if __name__ == "__main__":
    main()
