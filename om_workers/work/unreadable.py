"""Unreadable data of one resource stops work on that resource only. Every loop over resources uses `Isolated`."""

from types import TracebackType

import structlog

from om_api.domain.errors import OMError
from om_api.store.driver.tolerant_read import UNREADABLE

_log = structlog.get_logger("om_workers")


class Isolated:
    """Logs an error in the work on one resource as `event`, with the given fields; the loop goes on after the block.

    Errors of the types `raised` are raised, such as that of an archive that is away from everybody.
    """

    def __init__(self, event: str, *raised: type[Exception], **fields: str) -> None:
        self._event, self._raised, self._fields = event, raised, fields

    def __enter__(self) -> None:
        """Nothing is needed."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> bool:
        """Log an error of one resource; any other is raised."""
        if isinstance(error, self._raised) or not isinstance(error, (OMError, *UNREADABLE)):
            return False
        _log.warning(self._event, **self._fields, error=str(error)[:300])
        return True
