"""Reading of many although the keys of one of them hold what is not ours: that one is left out, the others are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from om_api.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.store.steps import Steps

T = TypeVar("T")
_FOREIGN = "WRONGTYPE"


def of_each(read: Callable[[Sequence[str]], Steps[dict[str, T]]], names: Sequence[str]) -> Steps[dict[str, T]]:
    """What `read` finds of names, without those that it cannot read: both halves are read again until such a one is alone.

    Raises StoreError for what is nobody's own fault, such as a store that is away.
    """
    try:
        return (yield from read(names))
    except (StoreError, ValueError, OverflowError) as error:
        if isinstance(error, StoreError) and _FOREIGN not in str(error):
            raise
    if len(names) == 1:
        return {}
    middle = len(names) // 2
    first = yield from of_each(read, names[:middle])
    return first | (yield from of_each(read, names[middle:]))
