"""Putting the bullets of each date in the order of their times, where that order is beyond doubt."""

from typing import NamedTuple

from om_api.patterns.pattern import Pattern

_DATE = Pattern(r"(?:#+[ \t]*|\*\*)?Date:", ignore_case=True)
_BULLET = Pattern(r"(?:[-*•]|\d{1,4}[.)])", ahead=r"[^\w*]")
_TIME = Pattern(r"(?:[-*•]|\d{1,4}[.)])[^\w(\n]*\((\d{1,2}):([0-5]\d)[ \t]*([AP]\.?M\.?)?\)", ignore_case=True)
_NOON = 12
_HOURS = 24


class _Time(NamedTuple):
    """A time as it was written: `half` is A, P or "" for none, `padded` says the hour began with a zero."""

    hour: int
    minute: int
    half: str
    padded: bool


def sort_by_time(text: str) -> str:
    """Sort the bullets of each `Date:` group by their times, stably; what is indented stays with its bullet.

    A group stays as it is unless every bullet has a time, all on one clock: AM/PM throughout, or clearly 24 hours, and
    nothing but bullets begins at the left margin.
    """
    groups: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _DATE.match(line):
            groups.append([])
        groups[-1].append(line)
    sorted_lines = [line for group in groups[1:] for line in (group[0], *_sorted(group[1:]))]
    return "\n".join([*groups[0], *sorted_lines])


def _sorted(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    bullets = _bullets(lines[:end])
    times = _times([bullet[0] for bullet in bullets or ()])
    if bullets is None or times is None:
        return lines
    order = sorted(range(len(bullets)), key=lambda at: times[at])
    return [*(line for at in order for line in bullets[at]), *lines[end:]]


def _bullets(lines: list[str]) -> list[list[str]] | None:
    """The top-level bullets, each with what belongs to it; None if something else stands at the left margin."""
    bullets: list[list[str]] = []
    for line in lines:
        if _BULLET.match(line):
            bullets.append([line])
        elif bullets and (not line.strip() or line[0] in " \t"):
            bullets[-1].append(line)
        elif line.strip():
            return None
    return bullets


def _times(bullets: list[str]) -> list[int] | None:
    """Minutes after midnight for each bullet; None if one has no time or the clock is not clear."""
    times = [
        _Time(int(m[1]), int(m[2]), (m[3] or "")[:1].upper(), m[1][0] == "0") for m in map(_TIME.match, bullets) if m
    ]
    if len(times) != len(bullets):
        return None
    if all(time.half and 1 <= time.hour <= _NOON for time in times):
        return [(time.hour % _NOON + _NOON * (time.half == "P")) * 60 + time.minute for time in times]
    return [time.hour * 60 + time.minute for time in times] if _is_24_hours(times) else None


def _is_24_hours(times: list[_Time]) -> bool:
    """Whether the times are on a 24-hour clock: an hour of 0 or after 12, or a padded hour and no 12 among them."""
    if any(time.half or time.hour >= _HOURS for time in times):
        return False
    hours = {time.hour for time in times}
    return 0 in hours or max(hours) > _NOON or (_NOON not in hours and any(time.padded for time in times))
