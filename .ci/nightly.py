"""`make nightly`: run the parts that are too slow for `make test`, one after the other, and print a table of them at the end.

Parts that passed are recorded in `.nightly/` with a digest of the tree: a second run on the same tree, within a day, runs the
others. Each part's output is in `.nightly/PART.log`. Exits with 1 if a part failed.
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
A_DAY_S = 86_400  # then parts that install the newest versions of what they test run again
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
    parser = argparse.ArgumentParser(
        usage='make nightly [ONLY="PART ..."] [FRESH=1]', description=__doc__.partition("\n")[0]
    )
    parser.add_argument("only", nargs="*", help=f"some of the parts: {', '.join(PARTS)}")
    parser.add_argument("--fresh", action="store_true", help="run parts that already passed on this tree")
    asked = parser.parse_args()
    if unknown := set(asked.only) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    if not (ROOT / ".git").exists():
        parser.error("run it in a git checkout: it records by commit and changes what passed")
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([ROOT / ".ci" / "packages", *PACKAGES], check=False)  # noqa: S603
    passed, rows, code = _passed(), [], 0
    try:
        for name in asked.only or PARTS:
            tree, before = _tree(), passed.pop(name, None)
            if before and not asked.fresh and before["tree"] == tree and time.time() - before["at"] < A_DAY_S:
                passed[name] = before
                rows.append((name, "passed before", before["seconds"], before["last"]))
                continue
            STATE.write_text(json.dumps(passed))
            _print(f"== {name}: {PARTS[name]}")
            failed, seconds, last = _run(name)
            rows.append((name, "FAILED" if failed else "passed", seconds, last))
            if failed:
                code = 1
            else:
                passed[name] = {"tree": tree, "at": time.time(), "seconds": seconds, "last": last}
                STATE.write_text(json.dumps(passed))
            _print(_row(*rows[-1]))
    except KeyboardInterrupt:
        code = 130
    _print("\n" + "\n".join(_row(*row) for row in [("part", "result", "time", "last line"), *rows]))
    return code


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
    contents = [file.read_bytes() for name in names if (file := ROOT / name.decode()).is_file()]
    return hashlib.sha256(b"\n".join([committed, changed, *names, *contents])).hexdigest()[:16]


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607


def _passed() -> dict[str, dict[str, str | float]]:
    try:
        return json.loads(STATE.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
