"""Where the guards are: every script, and the modules that hold or use locks, leases and the due indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mutants.lua_mutants import lua_mutants
from mutants.python_mutants import python_mutants

if TYPE_CHECKING:
    from pathlib import Path

    from mutants.mutant import Mutant

SCRIPTS = "om_api/store/lua"
LEASES = ("om_api/store/due.py", "om_api/store/locks.py", "om_workers/heartbeat.py")
USERS = tuple(f"om_workers/{name}.py" for name in ("mover", "observer", "reflector", "rounds", "sweep"))


def generate(root: Path) -> list[Mutant]:
    """Every mutant of a tree, file by file; of the users of leases only their functions about them."""
    mutants = []
    for script in sorted((root / SCRIPTS).glob("*.lua")):
        mutants += lua_mutants(f"{SCRIPTS}/{script.name}", script.read_text("utf-8"))
    for path in (*LEASES, *USERS):
        mutants += python_mutants(path, (root / path).read_text("utf-8"), whole=path in LEASES)
    return mutants
