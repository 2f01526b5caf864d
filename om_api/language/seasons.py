"""Seasons: which summer "last summer" was, on the northern half of the world."""

from om_api.language.mention import Form, Mention
from om_api.language.tense import Tense

_BEGINS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the month
_LENGTH = 3  # months
_RECENT = 7  # months from its beginning, in which it may be "this summer" still
_JUST_OVER = 1  # months in which "last summer" may be this one, or that of last year


def _season(said: Mention) -> str | None:
    begins = _BEGINS[said["season"]]
    year = said.day.year - (said.day.month < begins)  # of the latest that has begun
    since = (said.day.year - year) * 12 + said.day.month - begins
    read = _DIRECTED.get(said["near"], _undirected)
    step = read(said, year, since)
    return None if step is None else _shown(said["season"], year + step)


def _shown(season: str, year: int) -> str:
    return f"winter {year}/{(year + 1) % 100:02}" if season == "winter" else f"{season} {year}"


def _last(_: Mention, __: int, since: int) -> int | None:
    if since < _LENGTH:
        return -1
    return None if since < _LENGTH + _JUST_OVER else 0


def _next(said: Mention, year: int, since: int) -> int | None:
    """One that comes this year may be called this one, or the next."""
    return 1 if since < _LENGTH or year == said.day.year else None


def _this(said: Mention, year: int, since: int) -> int | None:
    if since < _LENGTH or (said.tense is Tense.BEHIND and since < _RECENT):
        return 0
    return 1 if said.tense is not Tense.BEHIND and year < said.day.year else None


def _undirected(said: Mention, _: int, since: int) -> int | None:
    """In the running season, or without a tense, it may be any year's."""
    if since < _LENGTH or (said["near"] in {"by", "until", "till", "before"} and said.tense is Tense.BEHIND):
        return None
    return {Tense.AHEAD: 1, Tense.BEHIND: 0}.get(said.tense)


_DIRECTED = {"last": _last, "next": _next, "this": _this}
FORMS = (
    Form(
        rf"(?P<near>last|next|this|in|over|during|by|until|till|before|after|since)\s+(?:the\s+)?(?P<season>{'|'.join(_BEGINS)})\b"
        r"(?!\s+of\b)",
        _season,
    ),
)
