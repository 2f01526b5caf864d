"""A list of what was read of the past, which says so where something of it could not be."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


class Partly(list[T]):
    """What was found. `partial` says why what was archived is not among it; "" if it is, or if nothing was archived."""

    def __init__(self, found: Iterable[T] = (), partial: str = "") -> None:
        super().__init__(found)
        self.partial = partial
