"""What msgspec must know of a type before threads read values of it."""

from typing import TypeVar

import msgspec

T = TypeVar("T")


def learned(kind: type[T]) -> type[T]:
    """The type, of which msgspec knows all from now on: for every struct that is read from JSON or converted to.

    It learns a type, and those within it, at the first value of it (0.22.0). Time 0: a thread has it learn one. Time 1: another
    thread reads a value by what is there so far, and the process ends with a segmentation fault.
    """
    msgspec.json.Decoder(kind)
    return kind
