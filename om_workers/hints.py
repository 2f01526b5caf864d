"""Hints of plain writers: what they name is looked at in bulk, and adopted by tasks where anything waits for it."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from om_api.errors import OMError
from om_api.store import survey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from om_api.store.keys import Keys
    from om_workers.dispatcher import Dispatcher
    from om_workers.workshop import Workshop

_QUEUE = "maintenance"
_AT_ONCE = 500
_MOST = 50_000  # that are looked at in one tick
_KEYS = 50  # that one task adopts


def pass_on(shop: Workshop, dispatcher: Dispatcher, seconds: float) -> int:
    """Have adopted what hints name, as much as workers can begin; the rest waits for the next tick. How many keys it was.

    Resources take turns: none waits behind thousands of keys of another. A hint of a key that holds nothing new is dropped.
    What the broker does not take waits too; raises StoreError then, and when the store is away.
    """
    tasks = dispatcher.room(_QUEUE) - shop.dispatch.waiting(_QUEUE)
    if tasks <= 0:
        return 0
    found = _in_turns(shop.keys, _taken(shop, seconds))
    size = max(1, min(_KEYS, -(-len(found) // tasks)))
    ours, rest = found[: tasks * size], found[tasks * size :]
    shop.run(survey.hint(shop.keys, rest))
    for start in range(0, len(ours), size):
        try:
            shop.dispatch.adopt(*ours[start : start + size])
        except OMError:
            shop.run(survey.hint(shop.keys, ours[start:]))
            raise
    return len(ours)


def _taken(shop: Workshop, seconds: float) -> list[str]:
    end, looked, found = time.monotonic() + seconds, 0, list[str]()
    while looked < _MOST and time.monotonic() < end:
        names = shop.run(survey.waiting_for_adoption(shop.keys, _AT_ONCE))
        looked += len(names)
        try:
            found += shop.run(survey.adoptable(shop.keys, names))
        except OMError:
            shop.run(survey.hint(shop.keys, [*found, *names]))
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
