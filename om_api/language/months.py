"""Months: whose year "in March", "before June" and "until the end of May" are of."""

import re
from calendar import monthrange
from datetime import date

from om_api.language.calendar import MONTH, month_number, show_day
from om_api.language.mention import Form, Mention, first_of_month, show_month
from om_api.language.tense import Tense

_MONTH = rf"(?P<month>{MONTH})\b\.?(?!['’]s\b)"
_LIMITS = ("until", "till", "by", "before", "through")
_VERBS = {"may", "march"}
_NAMES = {"april", "may", "june", "august", "jan"}
_NOUNLIKE = {"in", "since", "until", "till", "last", "next", "early", "mid", "late"}  # before what a verb cannot follow
_GOES_ON = re.compile(
    r"\s*(?:$|[^\w\s'’]|(?:we|i|you|they|he|she|it|if|because|so|but|when|with|at|for|to|in|on|the|this|next|last)\b)",
    re.IGNORECASE,
)
_SURE_MONTHS = 9  # ahead; what is said without a tense may be further off than behind
_JUST_OVER = 2  # months


def _month(said: Mention) -> str | None:
    month = month_number(said["month"])
    verb = said.is_lower("month") and said["month"] in _VERBS and said["near"] not in _NOUNLIKE
    named = said["month"] in _NAMES and said["near"] in {*_LIMITS, "after"} and not _GOES_ON.match(said.text, said.end)
    year = None if verb or named else _YEARS.get(said["near"], _year)(said, month)
    return None if year is None else show_month(date(year, month, 1))


def _ahead(said: Mention, month: int) -> int:
    return said.day.year + (month < said.day.month)


def _behind(said: Mention, month: int) -> int:
    return said.day.year - (month > said.day.month)


def _year(said: Mention, month: int) -> int | None:
    """Without a tense it lies ahead, unless it has only just been; in its own month it is no other year's."""
    if said.tense is Tense.BEHIND:
        limited = said["near"] in _LIMITS or month == said.day.month
        return None if limited else _behind(said, month)
    near = (month - said.day.month) % 12 <= _SURE_MONTHS
    return _ahead(said, month) if said.tense is Tense.AHEAD or (said.tense is Tense.OPEN and near) else None


def _since(said: Mention, month: int) -> int | None:
    return None if said.tense is Tense.UNSURE or month == said.day.month else _behind(said, month)


def _last(said: Mention, month: int) -> int | None:
    """A month or two after June, "last June" may be either."""
    if month == said.day.month:
        return said.day.year - 1
    return None if 0 < said.day.month - month <= _JUST_OVER else _behind(said, month)


def _next(said: Mention, month: int) -> int | None:
    """One that comes this year may be called this one, or the next."""
    return None if month > said.day.month else said.day.year + 1


def _this(said: Mention, month: int) -> int | None:
    over = month < said.day.month
    return said.day.year if month == said.day.month or over == (said.tense is Tense.BEHIND) else None


_YEARS = {"since": _since, "last": _last, "next": _next, "this": _this}


def _end(said: Mention) -> str | None:
    """The last day where something is to be done until then, else the month."""
    if not (first := _first_of(said)):
        return None
    last = date(first.year, first.month, monthrange(first.year, first.month)[1])
    return show_day(last) if said["near"] else show_month(first)


def _first_of(said: Mention) -> date | None:
    """The first day of the month whose end is meant."""
    if said["month"]:
        month = month_number(said["month"])
        year = _year(said, month)
        return date(year, month, 1) if year else None
    if said["which"] == "the" and said.tense in (Tense.BEHIND, Tense.UNSURE):
        return None
    step = {"last": -1, "next": 1}.get(said["which"], 0)
    if said["unit"] == "year":
        return date(said.day.year + step, 12, 1)
    return first_of_month(said.day, step)


FORMS = (
    Form(
        rf"(?:(?P<near>{'|'.join(_LIMITS)})\s+)?(?:the\s+)?end\s+of\s+(?:(?P<which>the|this|next|last)\s+(?P<unit>month|year)\b|{_MONTH}(?!\s+\d))",
        _end,
    ),
    Form(
        rf"(?P<near>in|by|until|till|since|last|next|this|early|mid|late|before|after|through|during)[\s-]+{_MONTH}(?!\s+\d)",
        _month,
    ),
)
