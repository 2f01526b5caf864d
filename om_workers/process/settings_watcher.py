"""Taking up changed files of settings while a worker runs, and saying what of them could not be taken up."""

import threading
import time

import structlog

from om_api.settings import FileProblem, Settings

EVERY_S = 1.0
_log = structlog.get_logger("om_workers")


class SettingsWatcher:
    """Watches one process' settings; its threads may share it. `since`: when (monotonic s) those in force were taken up."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._looked_at = float("-inf")
        self.since = time.monotonic()
        self._reported: set[FileProblem] = set()
        self._guard = threading.Lock()

    def look(self) -> None:
        """Take up what changed, at most once a second."""
        with self._guard:
            if time.monotonic() - self._looked_at >= EVERY_S:
                self._looked_at = time.monotonic()
                self._take_up()

    def _take_up(self) -> None:
        """Say that settings changed, and once of each file what of it could not be taken up."""
        changed, problems = self._settings.refresh(), set(self._settings.problems)
        if changed:
            self.since = time.monotonic()
        if changed or problems != self._reported:
            _log.info("settings_changed", problems=len(problems))
        for problem in sorted(problems - self._reported):
            _log.warning("settings_problem", file=problem.file, problem=problem.text)
        self._reported = problems
