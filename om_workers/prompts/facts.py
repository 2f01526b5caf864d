"""What in a line of notes can be checked word for word: names, numbers, dates, URLs, paths, identifiers."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from om_api.language.calendar import DATE, DAY_NAMES, days
from om_api.language.words import EMPTY, bare_words, word_set


class FactKind(StrEnum):
    """What a fact is; the last three are whole lines."""

    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    URL = "url"
    PATH = "path"
    IDENTIFIER = "identifier"
    IMPORTANT = "🔴 line"
    DONE = "✅ line"
    LINE = "line"


class Fact(NamedTuple):
    """One fact: `key` is what is compared, `shown` how it was written."""

    kind: FactKind
    key: str
    shown: str


_EXTENSIONS = (
    "py|pyi|js|mjs|ts|tsx|jsx|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock|md|rst|txt|log|csv|tsv|xlsx?|docx?|pptx?|pdf|png|jpe?g"
    "|gif|svg|html?|css|scss|sql|sh|bash|ps1|lua|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|ipynb|xml|zip|gz|tar|db|mp[34]"
)
_URL = re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+", re.IGNORECASE)
_PATH = re.compile(
    rf"(?<![\w/.\\@+-])(?:[A-Za-z]:\\[\w.\\@+ -]*[\w]|(?:~|\.{{1,2}})?/[\w.@+-]+(?:/[\w.@+-]+)*/?|[\w.@+-]+(?:/[\w.@+-]+)+/?"
    rf"|\w[\w-]*(?:\.[\w-]+)*\.(?:{_EXTENSIONS})\b)(?::\d+(?:-\d+)?)?"
)
FILE = re.compile(rf"\.(?:{_EXTENSIONS})$", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"`(?P<code>[^`\n]{1,80})`"
    r"|(?<![\w.+-])(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w#&])#(?P<issue>\d{1,9})\b"
    r"|(?<![\w.])v?(?P<version>\d+\.\d+\.\d+(?:[.\w-]*\w)?)"
    r"|(?<![\w@])@(?P<handle>[A-Za-z]\w+)"
    r"|(?<![\w-])(?P<hex>(?=[0-9a-f-]*[a-f])[0-9][0-9a-f]{6,39}(?:-[0-9a-f]{4,12})*)(?![\w-])"
    r"|(?<![\w-])(?P<mixed>[A-Za-z][A-Za-z_]*(?:-[A-Za-z]+)*-?\d[\w-]*)"
    r"|(?<!\w)(?P<snake>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)"
    r"|(?<!\w)(?P<camel>[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?!\w)"
)
_CLOCK = re.compile(r"(?<![\w:.])(\d{1,2})(?::([0-5]\d)(?::\d\d)?\s*([AaPp]\.?[Mm]\b)?|\s*([AaPp]\.?[Mm]\b))")
_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[,'\u2009\u202f\u00a0]\d{3})+|\d+)(\.\d+)?(k|K|M|bn)?(?!\d)(?:\s?-?\s?([^\W\d_]+|[%€$£]))?"
)
_CURRENCY = {"$": "$", "usd": "$", "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£", "pound": "£"}
_UNITS = {
    **_CURRENCY,
    **{word: unit for unit, group in {
        "%": "% percent pct", "km": "km kilometre kilometer", "cm": "cm centimetre centimeter", "m": "m metre meter",
        "mile": "mi mile", "kg": "kg kilo kilogram", "g": "g gram", "mg": "mg milligram", "ml": "ml millilitre milliliter",
        "l": "l litre liter", "ms": "ms millisecond", "s": "s sec second", "min": "min minute", "h": "h hr hour",
        "day": "d day", "week": "week wk", "month": "month", "year": "year yr", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb",
    }.items() for word in group.split()},
}  # fmt: skip
_TIMES = {None: 1, "k": 1_000, "K": 1_000, "M": 1_000_000, "bn": 1_000_000_000}
_CAPITAL = re.compile(r"[^\W\d_][\w’'-]*")
_NO_NAMES = (
    EMPTY
    | DAY_NAMES
    | word_set(
        """date pattern insight primary secondary yes ok okay pm i'm i'll i've i'd todo id url api pdf csv json html css
        sql"""
    )
)
_BEGINS = re.compile(r"(?:^|(?<!\b[A-Z][a-z])(?<!\bMrs)(?<!\bProf)[.!?;][\"'”’)]?\s|[\"“‘'*]|->|→|[-–—]\s|\|)\s*$")
_BEFORE = 8  # characters looked at for the end of a sentence
_LONGEST = 300  # characters of a path: what is longer is none that anybody opens
_FEW = 2  # parts of a relative path, from which on it is one
_GONE = " · "


def facts(text: str) -> list[Fact]:
    """The facts of one line; names that begin a sentence are left out, see `leading`."""
    return list(_read(text)[0])


def leading(text: str) -> list[Fact]:
    """Capitalised words that begin a sentence: names if the notes write them with a capital elsewhere too."""
    return _names(_read(text)[1], begins=True)


def _read(text: str) -> tuple[list[Fact], str]:
    """The facts of a text, each part of it counted once, and the text without those that are no names."""
    found: list[Fact] = []
    for kind, pattern, make in _READERS:
        text, some = _taken(text, kind, pattern, make)
        found += some
    return [*found, *_names(text, begins=False)], text


def _taken(
    text: str, kind: FactKind, pattern: re.Pattern[str], make: Callable[[re.Match[str]], str]
) -> tuple[str, list[Fact]]:
    found: list[Fact] = []

    def take(match: re.Match[str]) -> str:
        key = make(match)
        if not key:
            return match[0]
        found.append(Fact(kind, key, match[0].strip().rstrip(".,;:")))
        return _GONE

    return pattern.sub(take, text), found


def _url(match: re.Match[str]) -> str:
    return re.sub(r"^https?://(?:www\.)?", "", match[0].rstrip(".,;:!?*_").rstrip("/"), flags=re.IGNORECASE).lower()


def _path(match: re.Match[str]) -> str:
    path = re.sub(r":\d+(?:-\d+)?$", "", match[0]).rstrip("./")
    rooted, parts = path[:1] in {"/", "~", "."} or "\\" in path, [part for part in re.split(r"[/\\]", path) if part]
    is_path = FILE.search(path) or len(parts) > _FEW - rooted  # he/she and and/or are none
    return "/".join(parts).lower() if is_path and len(path) <= _LONGEST and any(map(str.isalpha, path)) else ""


def _identifier(match: re.Match[str]) -> str:
    return match[match.lastgroup or 0].strip().lower()


def _date(match: re.Match[str]) -> str:
    return " ".join(f"{day.year}-{day.month}-{day.day}" for day in days(match[0])[:1])


def _clock(match: re.Match[str]) -> str:
    return f"{int(match[1]) % 12}:{match[2] or '00'}"


def _number(match: re.Match[str]) -> str:
    value = float(re.sub(r"[^\d]", "", match[1]) + (match[2] or "")) * _TIMES[match[3]]
    before = match.string[max(match.start() - 1, 0) : match.start()]
    unit = _CURRENCY.get(before) or _unit((match[4] or "").lower())
    return f"{value:.12g} {unit}".strip()


def _unit(word: str) -> str:
    return _UNITS.get(word) or (_UNITS.get(word[:-1], "") if word.endswith("s") else "")


_READERS: tuple[tuple[FactKind, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (FactKind.URL, _URL, _url),
    (FactKind.DATE, DATE, _date),
    (FactKind.PATH, _PATH, _path),
    (FactKind.IDENTIFIER, _IDENTIFIER, _identifier),
    (FactKind.NUMBER, _CLOCK, _clock),
    (FactKind.NUMBER, _NUMBER, _number),
)


def _names(text: str, *, begins: bool) -> list[Fact]:
    found = []
    for match in _CAPITAL.finditer(text):
        if (
            match[0][0].isupper()
            and bool(_BEGINS.search(text[max(match.start() - _BEFORE, 0) : match.start()])) is begins
        ):
            key = "".join(bare_words(match[0])[:1]) if "-" not in match[0] else "-".join(bare_words(match[0]))
            if len(key) > 1 and key not in _NO_NAMES:
                found.append(Fact(FactKind.NAME, key, match[0]))
    return found
