"""A broker that is away or full: one line when that begins and one when it is over, in place of Celery's line for each retry."""

import logging
from typing import Any

import structlog

from om_api.settings import Settings

_FAILED = (  # how what Celery logs of it begins, most of it with a traceback
    "consumer: Cannot connect to",
    "consumer: Connection to broker lost",
    "Frequent restarts detected",
    "Message Error: ",  # the beat's, of a tick that was not sent
)
_READY = "%s ready."  # a worker consumes, at its start and again after each outage
_log = structlog.get_logger("om_workers")


class BrokerOutages(logging.Filter):
    """Of a handler: drops what Celery logs of a broker that fails, and says so once until it is back."""

    def __init__(self) -> None:
        super().__init__()
        self._away = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged as it is."""
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
        """Take note that the broker takes what it is sent."""
        if self._away:
            self._away = False
            _log.info("broker_back")


_REMEDY = "see that it runs, has memory and takes writes (om doctor); what is due waits in the store, and is sent once it is back"


def _why(record: logging.LogRecord) -> str:
    raised: Any = record.exc_info[1] if record.exc_info else None
    given = [each for each in record.args if isinstance(each, Exception)] if isinstance(record.args, tuple) else []
    return Settings.safe_url(str(next(iter(given), raised) or record.getMessage()))[:300]


outages = BrokerOutages()


def heed() -> None:
    """Have every handler of this process' log pass records by `outages`."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(outages)
