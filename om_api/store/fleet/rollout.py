"""How far settings have been made known to the memories there are: a walk over all resources, kept by their fingerprint."""

import msgspec

from om_api.domain.learned import learned
from om_api.store.driver.replies import as_bytes, write
from om_api.store.driver.steps import Batch, Steps
from om_api.store.memory.keys import Keys

_KEPT_S = 86_400


@learned
class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A walk that began at `begun` (server ms); its next slice begins at `cursor` of a part, None once all were looked at."""

    begun: int
    cursor: int | None = 0
    part: int = 0
    parts: int = 1

    def behind(self, cursor: int) -> "Progress":
        """Where it goes on behind a slice that ended at `cursor`, 0 being the end of a part."""
        if cursor:
            return msgspec.structs.replace(self, cursor=cursor)
        ended = self.part + 1 == self.parts
        return msgspec.structs.replace(self, cursor=None if ended else 0, part=0 if ended else self.part + 1)

    def of(self, parts: int) -> "Progress":
        """The same where there are so many parts; from the beginning if there were more or fewer."""
        return self if parts == self.parts else Progress(begun=self.begun, parts=parts)


def progress(keys: Keys, fingerprint: str) -> Batch[Progress | None]:
    """The last walk for these settings; None if there was none within a day, or what stands there is not ours."""
    return as_bytes("GET", keys.rollout(fingerprint)).then(_decoded)


def _decoded(reply: bytes | None) -> Progress | None:
    try:
        return msgspec.json.decode(reply, type=Progress) if reply else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def keep(keys: Keys, fingerprint: str, at: Progress) -> Steps[None]:
    """Note how far a walk came, so that whoever comes next goes on from there. Of two at once, a slice is done twice."""
    yield from write(("SET", keys.rollout(fingerprint), msgspec.json.encode(at), "EX", _KEPT_S))
