"""How the archive is: what it holds, or why it does not answer, and what waits to go there."""

from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from om_api.archive.entries import Figures
from om_api.archive.opening import open_archive
from om_api.domain.errors import OMError
from om_api.language.words import amount
from om_api.settings import Settings
from om_api.store.archiving.archivable import ArchiveBacklog

_MEGABYTE = 1_000_000


class ArchiveState(NamedTuple):
    """One look at an archive: `where` it is, without a password; its `figures`, or a `refusal` that says why there are none."""

    where: str
    backlog: ArchiveBacklog
    figures: Figures | None = None
    refusal: str = ""

    @property
    def told(self) -> str:
        """Its figures in words; why there are none."""
        if self.figures is None:
            return self.refusal
        entries, messages, resources, size = self.figures
        held = (
            f"{amount(entries, 'entry', 'entries')}, {amount(messages, 'message')} of {amount(resources, 'resource')}"
        )
        return f"{held}, {size / _MEGABYTE:,.1f} MB" if size else held


def look(settings: Settings, backlog: Callable[[], ArchiveBacklog], timeout_s: float) -> ArchiveState | None:
    """Look at the configured archive, for about `timeout_s` at most; None where there is none.

    One that does not answer is no error: that is what is to be said. Raises StoreError where `backlog` does.
    """
    if (stated := settings.memory.archived) is None:
        return None
    where, waits = Settings.safe_url(stated.url or ""), backlog()
    try:
        with closing(open_archive(settings.archive_url or "", timeout_s)) as archive:
            archive.check()
            return ArchiveState(where, waits, archive.figures())
    except OMError as error:
        return ArchiveState(where, waits, refusal=Settings.safe_url(str(error)))
