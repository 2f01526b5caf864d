"""What a judge of texts says."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Sensitive(NamedTuple):
    """Something that must not be kept: from where to where in a text, in characters."""

    kind: str
    start: int
    end: int


Finder = Callable[[str], Sequence[Sensitive]]
