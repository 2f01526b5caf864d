"""`make adapters`: install each framework in its newest version, run the suite, print the table; fails where one does."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from reports import write_block

from adapters.frameworks import FRAMEWORKS, ROOT, Framework

PAGE = ROOT / "docs" / "compatibility.md"
_HEAD = ["| framework | version | installed in | the suite |", "| --- | --- | --- | --- |"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make adapters", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[[], *FRAMEWORKS], help="some of the frameworks; else all")
    parser.add_argument("--jobs", default="2", help="processes of tests at once")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    asked = parser.parse_args()
    named = [FRAMEWORKS[name] for name in asked.only or FRAMEWORKS]
    seconds = {each: _installed(each) for each in named}
    there = [each for each, took in seconds.items() if took is not None]
    passed = bool(there) and not _run(there, asked.jobs)
    rows = [
        f"| {each.name} | {each.version} | {seconds[each]:.0f} s | {'ok' if passed else 'failed'} |" for each in there
    ]
    print(*_HEAD, *rows, sep="\n")  # noqa: T201
    if asked.write and passed and there == [*FRAMEWORKS.values()]:
        write_block("adapters", "\n".join([*_HEAD, *rows]), PAGE)
    return not (passed and there == named)


def _installed(framework: Framework) -> float | None:
    """How many seconds it took to install a framework; None, and said why, where it cannot be."""
    began = time.monotonic()
    try:
        framework.install()
    except subprocess.CalledProcessError as error:
        print(f"{framework.name} cannot be installed: {error}")  # noqa: T201
        return None
    took = time.monotonic() - began
    print(f"{framework.name} {framework.version} is installed, in {took:.0f} s", flush=True)  # noqa: T201
    return took


def _run(frameworks: list[Framework], jobs: str) -> int:
    environ = {**os.environ, "ADAPTERS": " ".join(each.name for each in frameworks)}
    command = [sys.executable, "-m", "pytest", "-n", jobs, "--dist", "load", str(Path(__file__).parent)]
    return subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
