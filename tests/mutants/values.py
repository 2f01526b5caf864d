"""Mutants of values: other numbers, the other of two neighbours, the other end of a range, another lifetime."""

from typing import Literal

FEW = 16  # up to here one more is another number; beyond it, twice as many or half of them
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXTREMES = {"min": "max", "max": "min"}
LIFETIMES = {"EXPIRE", "PEXPIRE", "EX", "PX"}  # the server's words before how long something is kept

Language = Literal["lua", "python"]


def others(number: float) -> list[str]:
    """What is tried in place of a number: one more and nothing of a few, twice and half of many and of a share."""
    if isinstance(number, int) and number <= FEW:
        return [str(number + 1), "0"] if number else ["1"]
    half = number // 2 if isinstance(number, int) else number / 2
    return [repr(number * 2), repr(half)] if number else ["1.0"]


def lifetimes(text: str, language: Language) -> list[str]:
    """Twice and half of a lifetime, whatever it is reckoned from; servers take whole numbers."""
    half = f"math.floor(({text}) / 2)" if language == "lua" else f"(({text}) // 2)"
    return [f"(({text}) * 2)", half]
