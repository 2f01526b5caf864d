"""Opening an archive by its address. SQL's packages are loaded only then: a process without an archive needs none of them."""

from importlib import import_module

from om_api.archive.protocol import Archive
from om_api.domain.extras import missing


def open_archive(url: str, timeout_s: float = 5.0) -> Archive:
    """The archive at `sqlite:///path` or `postgresql://…`; it connects at first use.

    `timeout_s` bounds connecting, waiting for locks, and each statement. Raises SettingsError for any other address, and
    MissingExtraError where `cortex-om[archive]` is not installed.
    """
    try:
        opened: Archive = import_module("om_api.archive.sql_archive").SqlArchive(url, timeout_s)
    except ModuleNotFoundError as error:
        raise missing(error, "archive") from None
    return opened


def archive_of(url: str | None, timeout_s: float = 5.0) -> Archive | None:
    """The same; None where no address is given."""
    return open_archive(url, timeout_s) if url else None
