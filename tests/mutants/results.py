"""What is known already: a run that was stopped goes on where it was, and an edited file has only its own mutants tried again."""

import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from mutants.digests import Digests
from mutants.mutant import Mutant

_WRITTEN_EVERY_S = 5.0


class Results:
    """Who noticed which mutant ('' = nobody), as far as it holds for the tree as it is; safe to use from several threads.

    That a test noticed a mutant holds while its file and the test's are what they were; that nobody did, while its file is and
    all files of tests that were asked are; and that of `every` test none did is known apart. `hints` say who noticed what once.
    """

    def __init__(self, root: Path, file: Path) -> None:
        self._file, self._guard, self._digests = file, threading.Lock(), Digests(root)
        self._known: dict[str, list[str]] = json.loads(file.read_text()) if file.exists() else {}
        self._written = 0.0
        self.found: dict[str, str] = {}
        self.hints = {name: killer for name, (killer, _) in self._known.items()}

    def recall(self, mutant: Mutant, asked: Iterable[str], *, every: bool = False) -> bool:
        """Whether what is known of a mutant still holds; `asked` are the tests that would be asked about it."""
        killer, grounds = self._known.get(_name(mutant, every=every), ("", ""))
        if holds := grounds == self._grounds(mutant, killer, asked):
            self.found[mutant.id] = killer
        return holds

    def keep(self, mutant: Mutant, killer: str, asked: Iterable[str], *, every: bool = False) -> None:
        """Write a result down, within seconds."""
        with self._guard:
            self.found[mutant.id] = killer
            name = _name(mutant, every=every and not killer)
            self._known[name] = [killer, self._grounds(mutant, killer, asked)]
            if time.monotonic() > self._written + _WRITTEN_EVERY_S:
                self.write()

    def write(self) -> None:
        """Write all of them down now."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._known, indent=0))
        self._written = time.monotonic()

    def _grounds(self, mutant: Mutant, killer: str, asked: Iterable[str]) -> str:
        tests = {killer.partition("::")[0]} if killer else {name.partition("::")[0] for name in asked}
        return self._digests.of([mutant.path, *tests])


def _name(mutant: Mutant, *, every: bool) -> str:
    return f"{mutant.id} (every test)" if every else mutant.id
