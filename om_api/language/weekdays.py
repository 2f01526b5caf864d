"""Weekdays: which Friday "Friday", "next Friday" and "since Friday" are."""

from datetime import timedelta

from om_api.language.calendar import MONTH, WEEKDAYS, show_day
from om_api.language.mention import Form, Mention
from om_api.language.tense import Tense

_DAYS = "|".join(WEEKDAYS)
_SHORT = "(?-i:Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)"  # in small letters most of them are words
_TO = r"\s*(?:[-\u2013]|\b(?:to|through|thru|until)\b)\s*"
# what goes on is a span, a date of its own, something named or something regular
_WHOLE = (
    rf"(?!['’]?s\b|{_TO}(?:{_DAYS}|{_SHORT})\b|,?\s+(?:the\s+)?(?:\d|(?:{MONTH})\.?\s+\d)"
    r"|\s+(?:of|again|school|best|roast|blues)\b|(?-i:\s+(?!I\b)[A-Z]))"
)
_NONE = {
    *(
        "every",
        "each",
        "any",
        "some",
        "other",
        "most",
        "all",
        "a",
        "an",
        "one",
        "first",
        "second",
        "third",
        "fourth",
        "ago",
    ),
    *("the", "that", "these", "those", "following", "previous"),
    *("black", "good", "happy", "cyber", "easter", "ash", "palm", "super", "casual"),
}
_BEFORE_SHORT = {"on", "next", "last", "this", "by", "until", "till", "coming", "since"}
_LIMITS = {"by", "until", "till", "before", "for", "to"}
_SURE = 3  # days: nearer than that, nobody says "next" or "last" without doubt
_WEEK = 7


def _weekday(said: Mention) -> str | None:
    short = len(said["day"].rstrip(".")) < min(map(len, WEEKDAYS))
    if said["before"] in _NONE or (short and said["before"] not in _BEFORE_SHORT):
        return None
    wanted = next(number for number, name in enumerate(WEEKDAYS) if name.lower().startswith(said["day"][:3]))
    steps = _steps(said, wanted)
    if steps is None or (said["week"] and steps < 0):
        return None
    return show_day(said.day + timedelta(steps + (_WEEK if said["week"] else 0)))


def _steps(said: Mention, wanted: int) -> int | None:
    """How many days it is from the day it was said, which "on Friday" said on a Friday may be itself or not."""
    before, today = said["before"], said.day.weekday()
    if said["which"]:
        return wanted - today + _WEEK * {"next": 1, "last": -1}.get(said["which"], 0)
    ahead = (wanted - today) % _WEEK
    behind = ahead - _WEEK
    if before == "next":
        steps = _WEEK + wanted - today  # of the next calendar week
        return steps if steps >= _SURE else None
    if before in {"last", "past"}:
        return behind if before == "past" or behind <= -_SURE else None
    if before == "coming":
        return ahead or _WEEK
    return _undirected(said, ahead, behind) if ahead else None


def _undirected(said: Mention, ahead: int, behind: int) -> int | None:
    if said.tense is Tense.UNSURE and said["before"] != "this":
        return None
    if said["before"] == "since":
        return behind
    if said.tense is Tense.BEHIND:
        return behind if said["before"] not in _LIMITS else None
    return ahead if said["before"] not in {"from", "of"} else None


FORMS = (
    Form(rf"(?:{_DAYS}|{_SHORT}){_TO}(?:{_DAYS}|{_SHORT})\b", lambda _: None),
    Form(rf"(?P<which>next|last|this)\s+week,?\s+(?:on\s+)?(?P<day>{_DAYS})\b{_WHOLE}", _weekday),
    Form(
        rf"(?:(?P<before>[\w'’]+)\s+)?(?P<day>{_DAYS}|{_SHORT})\b"
        rf"(?:(?P<week>\s+week\b)|\s+(?:of\s+)?(?P<which>next|last|this)\s+week\b)?{_WHOLE}",
        _weekday,
    ),
)
