"""What was redacted of a memory: values encrypted, by what stands for them, and how often it was."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from om_api.domain.errors import StoreError
from om_api.redaction.redactor import Redactions
from om_api.store.driver.partitions import sure
from om_api.store.driver.replies import as_bool, as_fields, as_int, server_ms, write
from om_api.store.driver.steps import Steps, batch
from om_api.store.memory.keys import Keys

_COUNTED_S = 400 * 86_400
# beside the values: how often any were kept, and since when (Unix ms) something is being removed of which some may be left
KEPT, MARKED = "#", "~"


def keep(keys: Keys, resource: str, told: Redactions) -> Steps[None]:
    """Keep what was replaced, and count it by kind; whoever may not count does not."""
    if told.sealed:
        words = [word for pair in told.sealed.items() for word in pair]
        key = keys.of(resource).redacted
        yield from write(("HSET", key, *words), ("HINCRBY", key, KEPT, 1))
    if any(told.counts.values()):
        with suppress(StoreError):
            yield from sure(keys.layout)
            names = keys.counted_by(resource), keys.counted.of(resource)
            counts = [("HINCRBY", key, f"redacted|{kind}", n) for key in names for kind, n in told.counts.items() if n]
            ends = [("EXPIRE", key, _COUNTED_S) for key in names]
            yield from write(*counts, *ends, atomic=False, once=True)


def mark(keys: Keys, resource: str) -> Steps[bool]:
    """Note that something is about to be removed; False where no value is kept, of which anything could be left.

    Time 0: it is marked. Time 1: a message is removed. Time 2: whoever removed it dies. The sweep finds the mark.
    """
    key = keys.of(resource).redacted
    there, now = yield from batch(as_bool("EXISTS", key), server_ms())
    if there:
        yield from write(("HSET", key, MARKED, now))
    return there


def marked(keys: Keys, resource: str) -> Steps[int]:
    """Since when (Unix ms) something is being removed; 0: nothing is."""
    return (yield from as_int("HGET", keys.of(resource).redacted, MARKED))


def values(held: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The values of the hash that holds them."""
    return {name: value for name, value in held.items() if name not in {KEPT.encode(), MARKED.encode()}}


def sealed_of(keys: Keys, resource: str, names: Iterable[str]) -> Steps[dict[str, bytes]]:
    """Those of some placeholders whose values are kept, encrypted."""
    asked = list(dict.fromkeys(names))
    if not asked:
        return {}
    found = yield from as_fields("HMGET", keys.of(resource).redacted, *asked)
    return {name: value for name, value in zip(asked, found, strict=True) if value}
