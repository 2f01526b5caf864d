"""What was redacted of a memory: values encrypted, by what stands for them, and how often it was."""

from collections.abc import Iterable
from contextlib import suppress

from om_api.domain.errors import StoreError
from om_api.redaction.redactor import Redactions
from om_api.store.driver.partitions import sure
from om_api.store.driver.replies import as_fields, write
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import Keys

_COUNTED_S = 400 * 86_400


def keep(keys: Keys, resource: str, told: Redactions) -> Steps[None]:
    """Keep what was replaced, and count it by kind; whoever may not count does not."""
    if told.sealed:
        words = [word for pair in told.sealed.items() for word in pair]
        yield from write(("HSET", keys.of(resource).redacted, *words))
    if any(told.counts.values()):
        with suppress(StoreError):
            yield from sure(keys.layout)
            names = keys.counted_by(resource), keys.counted.of(resource)
            counts = [("HINCRBY", key, f"redacted|{kind}", n) for key in names for kind, n in told.counts.items() if n]
            ends = [("EXPIRE", key, _COUNTED_S) for key in names]
            yield from write(*counts, *ends, atomic=False, once=True)


def sealed_of(keys: Keys, resource: str, names: Iterable[str]) -> Steps[dict[str, bytes]]:
    """Those of some placeholders whose values are kept, encrypted."""
    asked = list(dict.fromkeys(names))
    if not asked:
        return {}
    found = yield from as_fields("HMGET", keys.of(resource).redacted, *asked)
    return {name: value for name, value in zip(asked, found, strict=True) if value}
