"""What is known already: a run that was stopped goes on where it was, and an edited tree asks first who noticed before."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_COUNTED = ("om_api/**/*", "om_workers/**/*", "tests/**/*", "config/**/*", "pyproject.toml")


class Results:
    """Who killed which mutant ('' = nobody), for one state of the tree; safe to use from several threads."""

    def __init__(self, root: Path, file: Path) -> None:
        self._file, self._guard = file, threading.Lock()
        known = json.loads(file.read_text()) if file.exists() else {}
        tree = tree_hash(root)
        same = known.get("tree") == tree
        self._tree = tree
        self.found: dict[str, str] = known.get("found", {}) if same else {}
        self.hints: dict[str, str] = {**known.get("hints", {}), **known.get("found", {})}

    def keep(self, name: str, killer: str) -> None:
        """Write a result down at once."""
        with self._guard:
            self.found[name] = killer
            self._file.parent.mkdir(exist_ok=True)
            self._file.write_text(json.dumps({"tree": self._tree, "found": self.found, "hints": self.hints}, indent=1))


def tree_hash(root: Path) -> str:
    """What the product and its tests say; the list of equivalents and what is compiled do not count."""
    digest = hashlib.sha256()
    for pattern in _COUNTED:
        for file in sorted(root.glob(pattern)):
            name = file.relative_to(root).as_posix()
            if file.is_file() and "__pycache__" not in name and not name.startswith("tests/mutants/"):
                digest.update(f"{name}\n".encode() + file.read_bytes())
    return digest.hexdigest()
