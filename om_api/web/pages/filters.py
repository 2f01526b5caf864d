"""How pages write numbers, money, times and identities: each kind in one form."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from om_api.context.parts import plain
from om_api.domain.note_lines import told
from om_api.domain.notes.marks import mark_of
from om_api.language.words import amount

_LAST_MS = 250_000_000_000_000  # in the year 9892
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_CENT = 0.01


def number(value: float | None) -> str:
    """12,345; an en dash for what is not known."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def dollars(value: float | None) -> str:
    """$1.23, or as many digits as a small sum needs."""
    if value is None:
        return "–"
    sign, size = "-" if value < 0 else "", abs(value)
    digits = 2 if size >= _CENT or not size else 5
    return f"{sign}${size:,.{digits}f}"


def of_setting(value: float | None, setting: str) -> str:
    """A value as its setting's unit has it: dollars, or a number."""
    return dollars(value) if "dollars" in setting else number(value)


def percent(share: float | None) -> str:
    """72 %."""
    return "–" if share is None else f"{share * 100:,.0f} %"


def times(value: float | None) -> str:
    """5.4x."""
    return "–" if value is None else f"{value:,.1f}x"


def duration(seconds: float | None) -> str:
    """The two largest units: 3 min 20 s, 2 d 4 h."""
    if seconds is None:
        return "–"
    left, found = round(max(0, seconds)), []
    for size, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s")):
        if left >= size:
            found.append(f"{left // size} {name}")
            left %= size
    return " ".join(found[:2]) or "0 s"


def moment(at: float | None, *, exact: bool = False) -> str:
    """A time in Unix ms, as UTC, which our script shows in the reader's zone, `exact` to the second; an en dash for none."""
    if not at:
        return "–"
    when = datetime.fromtimestamp(min(max(0, at), _LAST_MS) / 1000, UTC)
    shown = f"{when:%Y-%m-%d %H:%M:%S}" if exact else f"{when:%Y-%m-%d %H:%M}"
    mark = Markup(" data-exact") if exact else ""
    return Markup('<time{} datetime="{}">{} UTC</time>').format(mark, when.isoformat(timespec="seconds"), shown)


def point(name: str | int) -> str:
    """A point of a chart: a time in Unix ms, or a name."""
    return name if isinstance(name, str) else moment(name)


def short(name: str) -> str:
    """The end of a long id, by which people tell them apart."""
    return name if len(name) <= 14 else f"…{name[-10:]}"  # noqa: PLR2004  as long as a date


def field(value: Any) -> str:
    """A value as a field of a form has it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


ALL: Mapping[str, Callable[..., Any]] = {
    "number": number,
    "amount": amount,
    "dollars": dollars,
    "of_setting": of_setting,
    "percent": percent,
    "times": times,
    "duration": duration,
    "moment": moment,
    "point": point,
    "short": short,
    "field": field,
    "said": plain,
    "quotes": mark_of,  # None for a line that is not marked
    "told": told,  # "" for a line that says nothing by itself
}
