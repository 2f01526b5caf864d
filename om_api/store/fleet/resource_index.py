"""The index of resources: whether anything is kept of one, and letting its name go when nothing is any more."""

from om_api.domain.values import Scope
from om_api.store.driver.partitions import asked
from om_api.store.driver.replies import as_bool, write
from om_api.store.driver.steps import Steps
from om_api.store.memory import due
from om_api.store.memory.clear import threads_of
from om_api.store.memory.keys import Keys


def is_known(keys: Keys, resource: str, thread: str | None = None) -> Steps[bool]:
    """Whether anything is kept of a resource: a memory, a quarantine, a pause, or messages that wait for adoption.

    Those that nobody was told of are found where their `thread` is named.
    """
    of = keys.of(resource)
    kept = [of.tokens, of.threads, of.scope, of.rejected, of.record(Scope(resource))]
    kept += [of.messages(thread)] if thread else []
    return (yield from as_bool("EXISTS", *kept)) or bool((yield from threads_of(keys, resource)))


def let_go(keys: Keys, resource: str) -> Steps[bool]:
    """Take a resource off the index if nothing of it is kept; True when it is gone.

    Time 0: a sweep sees nothing of it. Time 1: adoption lists it, and rejects what it was sent. Time 2: the sweep takes it off.
    So it looks once more, and lists again what came.
    """
    if (yield from is_known(keys, resource)):
        return False
    index = keys.resources
    yield from asked(index.layout, lambda: write(("ZREM", index.of(resource), resource)))
    if not (yield from is_known(keys, resource)):
        return True
    yield from due.looked(keys, resource, (yield from due.server_ms()))
    return False
