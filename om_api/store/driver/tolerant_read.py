"""Reading of many although the keys of one of them hold what is not ours: that one is left out, the others are read."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from om_api.domain.errors import ForeignDataError
from om_api.store.driver.steps import Askable, Batch, Steps, by_name

K = TypeVar("K")
T = TypeVar("T")
UNREADABLE = (ForeignDataError, ValueError, OverflowError, RecursionError)  # for values that another program wrote
_SLICE = 250  # names in one round trip


def of_many(read: Callable[[K], Batch[T]], names: Sequence[K]) -> Steps[dict[K, T]]:
    """What `read` asks of each of any number of names, some hundred in one round trip, without those that cannot be read."""
    found: dict[K, T] = {}
    for start in range(0, len(names), _SLICE):
        found |= yield from of_each(lambda some: by_name(some, read, atomic=False), names[start : start + _SLICE])
    return found


def of_each(read: Callable[[Sequence[K]], Askable[dict[K, T]]], names: Sequence[K]) -> Steps[dict[K, T]]:
    """What `read` finds of names, without those that it cannot read: both halves are read again until such a one is alone.

    Raises StoreError for what is nobody's own fault, such as a store that is away.
    """
    try:
        return (yield from read(names))
    except UNREADABLE:
        if len(names) == 1:
            return {}
    middle = len(names) // 2
    first = yield from of_each(read, names[:middle])
    return first | (yield from of_each(read, names[middle:]))
