"""Taking up changed settings, of files and of the store, while a worker runs, and saying what could not be taken up."""

import threading
import time
from collections.abc import Callable

import structlog

from om_api.domain.errors import StoreError
from om_api.settings import FileProblem, Settings
from om_api.settings.stored_layers import StoredTexts

EVERY_S = 1.0
_log = structlog.get_logger("om_workers")


class SettingsWatcher:
    """Watches one process' settings; its threads may share it. `since`: when (monotonic s) those in force were taken up.

    `read` asks the store, and may raise StoreError: while it is away, what it said last holds.
    """

    def __init__(self, settings: Settings, read: Callable[[StoredTexts], StoredTexts] | None = None) -> None:
        self._settings, self._read = settings, read
        self._looked_at = float("-inf")
        self.since = time.monotonic()
        self._reported: set[FileProblem] = set()
        self._guard = threading.Lock()

    def look(self) -> None:
        """Take up what changed, at most once a second; whoever comes while another one looks goes on with what is in force."""
        if self._guard.acquire(blocking=False):
            try:
                if time.monotonic() - self._looked_at >= EVERY_S:
                    self._take_up()
                    self._looked_at = time.monotonic()
            finally:
                self._guard.release()

    def _take_up(self) -> None:
        """Say that settings changed, and once of each file what of it could not be taken up."""
        changed, problems = self._settings.refresh(self._stored()), set(self._settings.problems)
        if changed:
            self.since = time.monotonic()
        if changed or problems != self._reported:
            _log.info("settings_changed", problems=len(problems))
        for problem in sorted(problems - self._reported):
            _log.warning("settings_problem", file=problem.file, problem=problem.text)
        self._reported = problems

    def _stored(self) -> StoredTexts | None:
        try:
            return self._read(self._settings.stored) if self._read else None
        except StoreError:  # who asks next says so
            return None
