"""The settings of one agent as the record carries them, so that a client without the YAML decides as a worker would."""

from functools import lru_cache

import msgspec

from om_api.context import View
from om_api.domain.learned import learned
from om_api.domain.policy import Limits, threshold
from om_api.settings import MemorySettings
from om_api.settings.sections.extractor_settings import extractors_of

REMEMBERED = 256
LONGEST = 32_768  # characters: several times what `write` gives
_DAY_S = 86_400
_LARGEST = 2**53  # what a double holds exactly: figures of agents are doubles
_ROOM = 2  # thresholds: what is raw stays below one and a half while observing keeps pace


@learned
class RecordedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits to decide by, the view to render by, and how long (s) sources are kept.

    `bounded`: raw messages beyond twice the threshold have no room in a view.
    """

    limits: Limits = Limits()
    view: View = View()
    retention_s: int = 90 * _DAY_S
    bounded: bool = True

    def view_of(self, observation_tokens: int) -> View:
        """The view of a memory with so many tokens of observations: a shared budget moves the threshold with them."""
        if not self.bounded:
            return self.view
        room = _ROOM * threshold(self.limits, observation_tokens)
        return msgspec.structs.replace(self.view, raw_max_tokens=room)


def of(settings: MemorySettings) -> RecordedSettings:
    """What an agent's settings say."""
    room = settings.context_max_tokens
    view = View(
        timezone=settings.timezone,
        excerpt_tokens=settings.other_threads.excerpt_tokens,
        others_tokens=settings.other_threads.total_tokens,
        context_max_tokens=None if room == "auto" else room,
        recalled_tokens=settings.recall.tokens if settings.recall.auto else 0,
        tool_tokens=settings.tools.max_tokens,
        working=settings.working_memory.form(),
        extracted=tuple(each.slug for each in extractors_of(settings.extractors) if each.shown),
    )
    return RecordedSettings(
        limits=settings.limits(), view=view, retention_s=settings.retention_s, bounded=room == "auto"
    )


def write(in_force: RecordedSettings) -> str:
    """As the record keeps it."""
    return msgspec.json.encode(in_force).decode()


def read(text: str) -> RecordedSettings | None:
    """What a record says; None where no worker has written anything, or somebody else something unreadable."""
    return _read(text) if 0 < len(text) <= LONGEST else None


@lru_cache(maxsize=REMEMBERED)  # agents with the same settings say the same, and each read asks
def _read(text: str) -> RecordedSettings | None:
    try:
        found = msgspec.json.decode(text, type=RecordedSettings)
    except (msgspec.DecodeError, RecursionError):
        return None
    said = (found.retention_s, *msgspec.structs.astuple(found.limits), *msgspec.structs.astuple(found.view))
    return found if all(abs(each) <= _LARGEST for each in said if isinstance(each, int)) else None
