"""What a framework is about to send beside what it holds: which item is which message, though it was filtered or copied."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any

from om_api.integrations.turn import HeldItems


def beside(
    held: Sequence[HeldItems], given: Sequence[Any], key: Callable[[Any], Hashable]
) -> tuple[list[HeldItems], list[Any]]:
    """What is given of each message that is held, nothing of one that was taken out; and what is given behind all of them.

    An item is the one held whose `key` it has; of several the first. What is given besides is shown in its place, and kept as
    nothing.
    """
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, each in enumerate(held):
        for item in each.items:
            places[key(item)].append(place)
    shown: list[list[Any]] = [[] for _ in held]
    loose: list[list[Any]] = [[] for _ in range(len(held) + 1)]
    last = -1
    for item in given:
        if found := places[key(item)]:
            shown[place := found.popleft()].append(item)
            last = max(last, place)
        else:
            loose[last + 1].append(item)
    own = [[HeldItems(tuple(items), each.messages)] for items, each in zip(shown, held, strict=True)]
    put = [[HeldItems((item,)) for item in items] for items in loose]
    return [*chain.from_iterable(chain(*both) for both in zip(put, [*own, []], strict=True))], loose[last + 1]
