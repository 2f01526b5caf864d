"""Where mistakes are made: every script, what decides, cuts, sweeps, holds leases, renders, asks, is set, and serves."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutants.lua_mutants import lua_mutants
from mutants.mutant import Mutant
from mutants.python_mutants import lifetimes_of, python_mutants

SCRIPTS = "om_api/store/lua"
WHOLE = (
    *("om_api/domain/policy.py", "om_api/domain/chunking.py", "om_workers/work/sweep.py"),
    *(
        "om_api/store/memory/due.py",
        "om_api/store/driver/locks.py",
        "om_api/store/driver/replies.py",
        "om_workers/process/heartbeat.py",
    ),
)
USERS = tuple(f"om_workers/work/{name}.py" for name in ("scope_worker", "observer", "reflector", "rounds"))
BROAD = ("om_api/context", "om_api/language", "om_api/settings", "om_api/http", "om_workers/prompts")
LASTING = ("om_api/store", "om_workers")
_TEXTS = {"docs.py", "examples.py"}  # they write documents, which a test compares whole
SEED = 11
SHARE = 1 / 10  # of the mutants of the broad rooms; all of them take an hour more


def generate(root: Path) -> list[Mutant]:
    """Every mutant of a tree, file by file."""
    return [*complete(root), *broad(root)]


def complete(root: Path) -> list[Mutant]:
    """All of the scripts, of what decides and holds leases, and of lifetimes wherever they are."""
    mutants = []
    for path, source in _there(root, [*WHOLE, *USERS]):
        mutants += python_mutants(path, source, whole=path in WHOLE)
    for script in sorted((root / SCRIPTS).glob("*.lua")):
        mutants += lua_mutants(f"{SCRIPTS}/{script.name}", script.read_text("utf-8"))
    elsewhere = [
        file.relative_to(root).as_posix() for folder in LASTING for file in sorted((root / folder).rglob("*.py"))
    ]
    for path, source in _there(root, [path for path in elsewhere if path not in {*WHOLE, *USERS}]):
        mutants += lifetimes_of(path, source)
    return mutants


def broad(root: Path) -> list[Mutant]:
    """All of the rooms that are many."""
    files = [file for folder in BROAD for file in sorted((root / folder).rglob("*.py")) if file.name not in _TEXTS]
    paths = [file.relative_to(root).as_posix() for file in files]
    return [mutant for path, source in _there(root, paths) for mutant in python_mutants(path, source)]


def drawn(mutants: Sequence[Mutant], share: float) -> list[Mutant]:
    """A share of mutants, drawn by their names: one that is drawn stays so, whatever is edited elsewhere."""
    return [mutant for mutant in mutants if random.Random(f"{SEED} {mutant.id}").random() < share]


def _there(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if (root / path).exists():
            yield path, (root / path).read_text("utf-8")
