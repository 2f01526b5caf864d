"""Hints of plain writers: what they name is looked at in bulk, and adopted by tasks where anything waits for it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, zip_longest

from om_api.domain.errors import OMError
from om_api.store.memory import keyspace_scan
from om_api.store.memory.keys import Keys
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.services import Services

_QUEUE = "maintenance"
_AT_ONCE = 500
_MOST = 50_000  # that are looked at in one tick
_KEYS = 50  # that one task adopts


def pass_on(services: Services, dispatcher: Dispatcher, seconds: float) -> int:
    """Have adopted what hints name, as much as workers can begin; the rest waits for the next tick. How many keys it was.

    Resources take turns: none waits behind thousands of keys of another. A hint of a key that holds nothing new is dropped.
    What the broker does not take waits too; raises StoreError then, and when the store is away.
    """
    tasks = dispatcher.room(_QUEUE) - services.queues.waiting(_QUEUE)
    if tasks <= 0:
        return 0
    found = _in_turns(services.keys, _taken(services, seconds))
    size = max(1, min(_KEYS, -(-len(found) // tasks)))
    ours, rest = found[: tasks * size], found[tasks * size :]
    services.run(keyspace_scan.hint(services.keys, rest))
    for start in range(0, len(ours), size):
        try:
            services.queues.adopt(*ours[start : start + size])
        except OMError:
            services.run(keyspace_scan.hint(services.keys, ours[start:]))
            raise
    return len(ours)


def _taken(services: Services, seconds: float) -> list[str]:
    end, looked, found = time.monotonic() + seconds, 0, list[str]()
    while looked < _MOST and time.monotonic() < end:
        names = services.run(keyspace_scan.waiting_for_adoption(services.keys, _AT_ONCE))
        looked += len(names)
        try:
            found += services.run(keyspace_scan.adoptable(services.keys, names))
        except OMError:
            services.run(keyspace_scan.hint(services.keys, [*found, *names]))
            raise
        if len(names) < _AT_ONCE:
            break
    return found


def _in_turns(keys: Keys, names: Iterable[str]) -> list[str]:
    of = defaultdict[str | None, list[str]](list)
    for name in names:
        if key := keys.parse_messages(name):
            of[key.resource].append(name)
    return [name for name in chain.from_iterable(zip_longest(*of.values())) if name]
