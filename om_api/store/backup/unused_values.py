"""Encrypted values of which no placeholder is left in a memory: what was removed is found nowhere, not even so."""

from om_api.redaction.placeholders import placeholders
from om_api.store.backup.old_text import texts
from om_api.store.driver.replies import as_hash, number
from om_api.store.driver.steps import Steps, Verb
from om_api.store.erasing.redacted import KEPT, MARKED, values
from om_api.store.memory.keys import Keys

_TRIES = 5


def drop(keys: Keys, resource: str) -> Steps[int]:
    """Remove the values that nothing in a memory stands for, and say how many; nothing of it may be archived meanwhile.

    Where values are kept faster than the memory is read, 0: its mark stays, and the sweep repeats it.
    """
    key = keys.of(resource).redacted
    for _ in range(_TRIES):
        held = yield from as_hash("HGETALL", key)
        names = {name.decode() for name in values(held)}
        if names:
            for text in (yield from texts(keys, resource)):
                names.difference_update(placeholders(text.decode("utf-8", "replace")))
        state = held.get(KEPT.encode(), b"0"), held.get(MARKED.encode(), b"")
        dropped = yield from Verb("drop_values", [key], [*state, *sorted(names)], number)
        if dropped >= 0:
            return dropped
    return 0
