"""How a process of ours writes its log."""

import logging
import sys
from collections.abc import Sequence
from typing import Any

import structlog

_TO_STDERR = structlog.PrintLoggerFactory(sys.stderr)
_NOISY = ("celery.app.trace", "celery.worker.strategy", "celery.beat", "mcp")  # we say it ourselves, in one line


def library_log() -> Any:
    """Where the library says what nobody asked for: to the program's own structlog if it set one up, else to stderr."""
    return structlog.get_logger("om_api") if structlog.is_configured() else structlog.wrap_logger(_TO_STDERR())


def log_to_stderr(*, level: str = "INFO", form: str | None = None, also: Sequence[Any] = ()) -> None:
    """One line of log per unit of work, Celery's own included: JSON unless stderr is a terminal or `form` is text.

    `also` are processors of structlog that add to each line.
    """
    as_json = form == "json" or (form != "text" and not sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        *also,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = [structlog.dev.ConsoleRenderer()]
    if as_json:
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, *last]))
    logging.basicConfig(level=number, handlers=[handler], force=True)
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
