"""Which tests run which lines of the product, and which of its scripts."""

import importlib
import warnings
from pathlib import Path
from typing import Any

import coverage


class Watch:
    """Watches one test after the other; see `end`."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._now = ""
        self._scripts: dict[str, set[str]] = {}
        self._coverage = coverage.Coverage(
            data_file=None, include=[f"{folder}/om_api/*", f"{folder}/om_workers/*"], config_file=False
        )
        self._coverage.start()
        self._listen()

    def turn_to(self, test: str) -> None:
        """What is run from now on is run by this test."""
        self._now = test
        self._coverage.switch_context(test)

    def end(self) -> dict[str, dict[str, Any]]:
        """By test: the lines of each file as bits, and the scripts."""
        self._coverage.stop()
        with warnings.catch_warnings(action="ignore"):  # a file may have no test that runs anything of ours
            data = self._coverage.get_data()
        found: dict[str, dict[str, Any]] = {}
        for file in data.measured_files():
            name = Path(file).relative_to(self._folder).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                for test in filter(None, tests):
                    lines = found.setdefault(test, {"lines": {}, "scripts": []})["lines"]
                    lines[name] = lines.get(name, 0) | 1 << line
        for test, scripts in self._scripts.items():
            found.setdefault(test, {"lines": {}, "scripts": []})["scripts"] = sorted(scripts)
        return {
            test: {**saw, "lines": {name: hex(bits) for name, bits in saw["lines"].items()}}
            for test, saw in found.items()
        }

    def _listen(self) -> None:
        """Every call of a script has its number of keys checked first."""
        script = importlib.import_module("om_api.store.driver.scripts").Script
        check = script.check

        def checked(self_: Any, keys: int) -> None:
            self._scripts.setdefault(self._now, set()).add(self_.name)
            check(self_, keys)

        script.check = checked
