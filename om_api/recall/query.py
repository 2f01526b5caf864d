"""Queries: what is searched for, read from what somebody typed, or from what a user said."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import ROLES
from om_api.domain.values import check_id, shown
from om_api.language.calendar import DATE, MONTH
from om_api.language.words import FIGURES
from om_api.recall.analysis import asked_pieces, is_stop, language_of
from om_api.recall.days import DATE_WORDS, Period, moment_of, periods
from om_api.recall.wording import is_unparted, plain, words_of

MOST_WORDS: Final = 48  # of a query; those behind them are left out
MOST_SAID: Final = 32  # of what a user said
_READ: Final = 8_000  # characters
_DATED: Final = 1_000  # of what a user said, in which dates are looked for
NOTHING = "the query holds no word to search for: give a word, a number or a name that was said"
ONLY_EXCLUDED = "the query only excludes: add a word, a date or a phrase that is to be found"
COMMON = "these words stand in nearly every message: add one that is rarer"
_HELD = f"only the first {MOST_WORDS} phrases were searched for"
_BARRED = f"only the first {MOST_WORDS} excluded words and phrases were used"
_QUOTES = str.maketrans("“”„«»", '"' * 5)
_MONTH_AND_YEAR = rf"(?:{MONTH})\b\.?(?:\s+\d{{1,2}},?)?\s+(?:19|20)\d\d"
_PART = re.compile(
    rf"""(?x)(?P<minus>-(?=[^\W_]|"))?(?:
    "(?P<phrase>[^"]*)"
    |(?P<field>thread|role|before|after):(?:"(?P<quoted>[^"]*)"|(?P<month>{_MONTH_AND_YEAR})|(?P<value>[^\s"]\S*))
    |(?P<word>\S+))""",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。？！])\s+|\n+")


class Query(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is searched for.

    `words` are scored; each of `phrases` must stand in the text, none of `excluded` words or `excluded_phrases`; `threads`,
    `roles`, `after` (from that ms on) and `before` (until before it) filter, nothing given filters nothing. `periods` raise
    what was said then, and filter where there are no words. `reason` says why nothing can be found, `notes` what was left out.
    """

    text: str = ""
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None
    periods: tuple[Period, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def only_dates(self) -> bool:
        """Whether it names days and nothing else; of "two weeks ago" and "in 2025" a number is a word as well."""
        return bool(self.periods) and all(word[0].isdigit() or word in FIGURES for word in self.words)

    def admits(self, text: str) -> bool:
        """Whether a text holds every phrase, word for word whatever the case, and none that is excluded."""
        if not self.phrases and not self.excluded_phrases:
            return True
        said, (held, barred) = plain(text), self._plain
        return all(phrase in said for phrase in held) and not any(phrase in said for phrase in barred)

    @cached_property
    def _plain(self) -> tuple[list[str], list[str]]:
        """The phrases and the excluded ones as `plain` writes them."""
        return [*map(plain, self.phrases)], [*map(plain, self.excluded_phrases)]


def parse_query(text: str, now_ms: int, timezone: str) -> Query:
    """Read what somebody typed: words, "phrases", -word, -"phrase", thread:id, role:user, after:2025-05, before:"May 2025".

    A quote without its end is a word. Dates in words are seen from `now_ms`. Raises InvalidInputError for a thread, role or
    date that is none.
    """
    typed = _Typed(text[:_READ])
    dates = periods(" ".join(typed.words), now_ms, timezone)
    held, barred = list(dict.fromkeys(typed.phrases)), list(dict.fromkeys(typed.excluded_phrases))
    words, notes = _told(typed.words, typed.phrases, dates=bool(dates), read=len(text) <= _READ)
    query = Query(
        text=text[:_READ],
        words=words,
        phrases=tuple(held[:MOST_WORDS]),
        excluded=tuple(typed.excluded[:MOST_WORDS]),
        excluded_phrases=tuple(barred[:MOST_WORDS]),
        threads=tuple(check_id(thread, "thread:") for thread in typed.fields["thread"]),
        roles=tuple(_role(role) for role in typed.fields["role"]),
        after=max((_moment("after", value, timezone) for value in typed.fields["after"]), default=None),
        before=min((_moment("before", value, timezone) for value in typed.fields["before"]), default=None),
        periods=dates,
        notes=(
            *notes,
            *([_HELD] if len(held) > MOST_WORDS else []),
            *([_BARRED] if max(len(typed.excluded), len(barred)) > MOST_WORDS else []),
        ),
    )
    return msgspec.structs.replace(query, reason=_reason(query))


class _Typed:
    """The parts of a query as they were typed."""

    def __init__(self, text: str) -> None:
        self.fields: dict[str, list[str]] = {"thread": [], "role": [], "before": [], "after": []}
        self.words: list[str] = []
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self.excluded_phrases: list[str] = []
        for part in _PART.finditer(text.translate(_QUOTES)):
            if part["field"]:
                self._fill(part["field"].lower(), part["quoted"] or part["month"] or part["value"] or "", part["minus"])
            elif part["minus"]:
                self._exclude(part["word"] or "", part["phrase"] or "")
            elif part["word"]:
                self.words.append(part["word"])
            elif words_of(part["phrase"]):
                self.phrases.append(part["phrase"])

    def _fill(self, field: str, value: str, minus: str | None) -> None:
        if minus:
            raise InvalidInputError(f"-{field}: cannot be excluded: leave the minus out, and name what is to be found")
        self.fields[field].append(value)

    def _exclude(self, word: str, phrase: str) -> None:
        """Pairs of an unparted script bar too much by themselves, so the text is asked for the run."""
        if any(map(is_unparted, words_of(word))):
            phrase = word
        if words_of(phrase):
            self.excluded_phrases.append(phrase)
        else:
            self.excluded.extend(asked_pieces(word)[:1])


def query_of_text(text: str, now_ms: int, timezone: str) -> Query:
    """A query of what a user said, in which nothing is syntax: its questions' words first, without those that carry nothing."""
    parts = _SENTENCE.split(text[:_READ])
    asked = [part for part in parts if part.rstrip().endswith(("?", "？"))]
    ordered = " ".join([*asked, *parts])
    dates = periods(ordered[:_DATED], now_ms, timezone)
    words = _without_little(asked_pieces(ordered), ordered, dates=bool(dates))[:MOST_SAID]
    return Query(text=text[:_READ], words=tuple(words), periods=dates, reason="" if words or dates else NOTHING)


def _told(words: list[str], phrases: list[str], *, dates: bool, read: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces that are scored, those of phrases first, and what is to be said about what was left out."""
    text = " ".join(words)
    if dates:
        text = DATE.sub(" ", text)
    quoted, asked = asked_pieces(" ".join(phrases)), asked_pieces(text)
    kept, notes = _without_little(asked, text, dates=dates), []
    if asked and not kept and not quoted and not dates:
        kept, notes = asked, [COMMON]
    found = list(dict.fromkeys([*quoted, *kept]))
    if len(found) > MOST_WORDS:
        notes.append(f"only the first {MOST_WORDS} words of the query were searched for")
    elif not read:
        notes.append(f"only the first {_READ:,} characters of the query were read")
    return tuple(found[:MOST_WORDS]), tuple(notes)


def _without_little(found: Iterable[str], text: str, *, dates: bool) -> list[str]:
    language = language_of(words_of(text), text)
    return [word for word in found if not is_stop(word, language) and not (dates and word in DATE_WORDS)]


def _reason(query: Query) -> str:
    if query.words or query.periods or query.phrases:
        return ""
    if query.excluded or query.excluded_phrases:
        return ONLY_EXCLUDED
    return NOTHING


def _role(role: str) -> str:
    if role.lower() not in ROLES:
        raise InvalidInputError(f"role:{_printed(role)} is none: use one of {', '.join(ROLES)}")
    return role.lower()


def _printed(typed: str) -> str:
    """The beginning of what was typed; half a character is no UTF-8."""
    return shown(typed).encode("utf-8", "replace").decode()


def _moment(field: str, value: str, timezone: str) -> int:
    """The first moment of the date, so that what is after one and what is before it is everything."""
    if (ms := moment_of(value, timezone)) is not None:
        return ms
    raise InvalidInputError(
        f"{field}:{_printed(value)} is no date: use 2025-05-01, 2025-05, 2025, May 2025 or 2025-05-01T09:30:00Z"
    )
