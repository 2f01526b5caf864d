"""`make nightly`: run the parts that are too slow for `make test`, one after the other, and print a table of them at the end.

What passed is noted in `.nightly/` together with the state of the tree: a second run on the same tree goes on with the rest.
Each part's output is in `.nightly/PART.log`. Exits with 1 if a part failed.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".nightly"
STATE = FOLDER / "passed.json"
PYTEST = f"{sys.executable} -m pytest"
PACKAGES = [
    "lua-check",
    "redis-server",
    "postgresql",
    "rabbitmq-server",
    "libfaketime",
    "nodejs",
    "chromium",
    "fonts-noto-color-emoji",
    "systemd",
    "prometheus",
]
CALLERS = {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "ONLY", "FRESH"}
PARTS = {  # the shortest first: what is broken outright shows early
    "tests": f"{PYTEST} -m nightly -n 2 --dist loadfile --timeout 600 --ignore tests/clients",
    "gate": "make gate",
    "inspector": "make inspector",
    "typescript": "make typescript",
    "pages": "make pages",
    "conform": "make conform",
    "chaos": "make chaos",
    "chaos-sqlite": "make chaos ARCHIVE=sqlite",
    "chaos-postgres": "make chaos ARCHIVE=postgres",
    "fuzz": "make fuzz SEEDS=500",
    "fuzz-cluster": "make fuzz SEEDS=100 CLUSTER=1",
    "cluster": "make cluster",
    "adapters": "make adapters",
    "load": "make load",
    "compat": "make compat",
    "scale": "make scale",
    "mutants": "make mutants",
}


def main() -> int:
    """Run what has not passed on this tree yet; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="make nightly", description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="*", help=f"some of the parts: {', '.join(PARTS)}")
    parser.add_argument("--fresh", action="store_true", help="run parts that already passed on this tree")
    asked = parser.parse_args()
    if unknown := set(asked.only) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([ROOT / ".ci" / "packages", *PACKAGES], check=False)  # noqa: S603
    tree, passed = _tree(), _passed()
    rows, failed = [], False
    for name in asked.only or PARTS:
        if not asked.fresh and name in passed and passed[name]["tree"] == tree:
            rows.append((name, "passed before", passed[name]["seconds"], passed[name]["last"]))
            continue
        _print(f"== {name}: {PARTS[name]}")
        code, seconds, last = _run(name)
        failed |= bool(code)
        rows.append((name, "FAILED" if code else "passed", seconds, last))
        if not code:
            passed[name] = {"tree": tree, "seconds": seconds, "last": last}
            STATE.write_text(json.dumps(passed, indent=1))
        _print(_row(*rows[-1]))
    _print("\n" + "\n".join(_row(*row) for row in [("part", "result", "time", "last line"), *rows]))
    return failed


def _run(name: str) -> tuple[int, float, str]:
    """Run a part with its output in a file: its exit code, its seconds, the last line that it printed."""
    log, began = FOLDER / f"{name}.log", time.monotonic()
    with log.open("wb") as out:
        # make exports its variables: ONLY= of `make nightly` must not become ONLY= of a part
        environ = {name: text for name, text in os.environ.items() if name not in CALLERS}
        environ |= {"CI": "true", "VENV": sys.prefix}
        done = subprocess.run(  # noqa: S602 - the commands above
            PARTS[name], shell=True, cwd=ROOT, env=environ, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return done.returncode, round(time.monotonic() - began, 1), lines[-1] if lines else ""


def _row(name: str, result: str, seconds: float | str, last: str) -> str:
    took = seconds if isinstance(seconds, str) else f"{seconds / 60:.1f} min"
    return f"{name:<15} {result:<14} {took:>9}  {last[:100]}"


def _tree() -> str:
    """A digest of the working tree: the commit, the changes since, and the files that git does not track yet."""
    committed, changed = _git("rev-parse", "HEAD"), _git("diff", "HEAD")
    names = _git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
    contents = [(ROOT / name.decode()).read_bytes() for name in names if name]
    return hashlib.sha256(b"\n".join([committed, changed, *names, *contents])).hexdigest()[:16]


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607


def _passed() -> dict[str, dict[str, str | float]]:
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
