"""Types of command-line arguments."""

from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", int, float)


def positive(kind: type[N]) -> Callable[[str], N]:
    """A number above zero, for argparse."""

    def number(text: str) -> N:
        if (value := kind(text)) <= 0:
            raise ValueError
        return value

    number.__name__ = f"positive {kind.__name__}"
    return number
