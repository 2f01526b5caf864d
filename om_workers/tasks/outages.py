"""Outages of the broker: one log line when one begins and one when it ends, instead of Celery's line for each retry."""

import logging
from typing import Any

import structlog

from om_api.settings import Settings

_FAILED = (  # beginnings of Celery's messages, most of which come with a traceback
    "consumer: Cannot connect to",
    "consumer: Connection to broker lost",
    "Frequent restarts detected",
    "Message Error: ",  # the beat's, of a tick that was not sent
)
_READY = "%s ready."  # a worker consumes, at its start and again after each outage
_REMEDY = (
    "check that the broker runs, has memory and takes writes (om doctor); due work waits in the store and is sent later"
)
_log = structlog.get_logger("om_workers")


class BrokerOutages(logging.Filter):
    """A filter of log handlers that replaces Celery's messages about a failing broker by one line an outage."""

    def __init__(self) -> None:
        super().__init__()
        self._away = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        text = str(record.msg)
        if text.startswith(_FAILED):
            if not self._away:
                self._away = True
                _log.warning("broker_away", error=_why(record), remedy=_REMEDY)
            return False
        if text == _READY:
            self.over()
        return True

    def over(self) -> None:
        """The broker takes tasks again."""
        if self._away:
            self._away = False
            _log.info("broker_back")


def _why(record: logging.LogRecord) -> str:
    raised: Any = record.exc_info[1] if record.exc_info else None
    given = [each for each in record.args if isinstance(each, Exception)] if isinstance(record.args, tuple) else []
    return Settings.safe_url(str(next(iter(given), raised) or record.getMessage()))[:300]


outages = BrokerOutages()


def install() -> None:
    """Add `outages` to every log handler of this process."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(outages)
