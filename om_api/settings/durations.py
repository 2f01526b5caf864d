"""Durations as people write them: `10s`, `5m`, `1h30m`, `2d`, or a number of seconds."""

from __future__ import annotations

import re

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST = 1e12
_LONGEST_TEXT = 100
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PATTERN = re.compile("".join(rf"(?:(?P<{unit}>{_NUMBER})\s*{unit}\s*)?" for unit in _UNITS))


def parse_duration(value: object) -> float:
    """Return seconds; raises ValueError for what is negative, not finite, a boolean, or no duration at all."""
    seconds = _from_text(value.strip()) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValueError("not a duration")  # noqa: TRY004  pydantic collects ValueError, and lets TypeError through
    if not 0 <= seconds <= _LONGEST:
        raise ValueError("a duration is finite and not negative")
    return float(seconds)


def _from_text(text: str) -> float | None:
    if len(text) > _LONGEST_TEXT:
        return None
    if re.fullmatch(_NUMBER, text):
        return float(text)
    found = _PATTERN.fullmatch(text) if text else None
    if found is None:
        return None
    return sum(float(number) * _UNITS[unit] for unit, number in found.groupdict().items() if number)


def format_duration(seconds: float) -> str:
    """Write seconds as `parse_duration` reads them, in the largest units that fit: 5400 is `1h30m`."""
    parts, rest = [], round(seconds, 3)
    for unit, size in _UNITS.items():
        count = rest if unit == "s" else rest // size
        rest = round(rest - count * size, 3)
        parts += [f"{count:g}{unit}"] if count else []
    return "".join(parts) or "0s"
