"""Where mail addresses, phone and card numbers, IBANs and secrets stand in a text; libraries judge what patterns suspect."""

from bisect import bisect
from collections.abc import Callable, Collection, Iterator
from operator import attrgetter

from phonenumbers import Leniency, PhoneNumberMatcher
from stdnum import iban, luhn

from om_api.patterns.pattern import Match, Pattern
from om_api.redaction.found import Finder, Sensitive
from om_api.redaction.placeholders import KINDS, PLACEHOLDER
from om_api.redaction.secrets import secrets_in

_EMAIL = Pattern(
    r"[\w.%+'-]{1,64}@(?P<host>(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,24})",
    behind=r"^|[^\w.%+'-]",
    ahead=r"[^\w@]|$",
)
_PICTURE = Pattern(r"\d{1,2}x\.")  # icon@2x.png is no address
_CARD = Pattern(r"\d(?:[ -]?\d){12,18}", behind=r"^:?|[^\w./#:-]|[^\d]:", ahead=r"[^\w.:-]|[.:](?:[^\d]|$)|$")
_ISSUED = Pattern(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6(?:011|2|4[4-9]|5)\d{12,15}"
)
_IBAN = Pattern(r"[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}", behind="^|[^A-Za-z0-9]")
_SHORTEST_IBAN = 15
_DIGITS = Pattern(r"\d[\d ()./-]{5,}\d")
_SUSPECTED = {  # a look that costs nothing, for most texts
    "iban": Pattern(r"[A-Za-z]{2}\d{2}[ -]?[A-Za-z0-9]"),
    "email": Pattern("@"),
    "card": _CARD,
}
_ABROAD = Pattern(r"[+＋]\s?[(]?\d")
_NO_WORD = str.maketrans("", "", " -")
_BASE_36 = {ord(letter): str(value) for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10)}
_REST_97 = 1  # of an IBAN's number
_start = attrgetter("start")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u202f"), " ") | dict.fromkeys(
    map(ord, "\u2010\u2011\u2012"), "-"
)


def find(text: str, kinds: Collection[str], region: str | None = None, also: Finder | None = None) -> list[Sensitive]:
    """What stands in a text of these kinds, in its order, none in another and none in a placeholder.

    `region` is the country (AT) of phone numbers that name none; without it these are not found. `also` finds more.
    """
    taken = [Sensitive("", *each.span()) for each in PLACEHOLDER.finditer(text)] if "[" in text else []
    for each in _all(text, kinds, region, also):
        place = bisect(
            taken, each.start, key=_start
        )  # what is taken stays in order: it overlaps its neighbours, or nothing
        before_next = place == len(taken) or each.end <= taken[place].start
        if before_next and (not place or taken[place - 1].end <= each.start):
            taken.insert(place, each)
    return [each for each in taken if each.kind]


def _all(text: str, kinds: Collection[str], region: str | None, also: Finder | None) -> Iterator[Sensitive]:
    text = text if text.isascii() else text.translate(_SPACES)  # one character is one still
    for kind in KINDS:
        if kind in kinds and (kind not in _SUSPECTED or _SUSPECTED[kind].search(text)):
            spans = _phones(text, region) if kind == "phone" else _FINDERS[kind](text)
            yield from (Sensitive(kind, start, end) for start, end in spans)
    if also is not None:
        yield from (each for each in also(text) if each.kind in kinds)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    return (each.span() for each in _EMAIL.finditer(text, _is_no_address))


def _is_no_address(found: Match) -> bool:
    return found[0].startswith("git@") or _PICTURE.match(found["host"]) is not None


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for each in _CARD.finditer(text):
        number = each[0].translate(_NO_WORD)
        if _ISSUED.fullmatch(number) and luhn.is_valid(number):
            yield each.span()


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    """The longest beginning of what looks like one: words may follow it."""
    for each in _IBAN.finditer(text):
        ends = range(each.end(), each.start() + _SHORTEST_IBAN - 1, -1)
        end = next((end for end in ends if text[end - 1].isalnum() and _is_iban(text[each.start() : end])), None)
        if end is not None and not text[end : end + 1].isalnum():
            yield each.start(), end


def _is_iban(text: str) -> bool:
    """Whether a text is an IBAN. The library takes long, so it is asked only where the check digits are right."""
    number = text.translate(_NO_WORD).upper()
    digits = (number[4:] + number[:4]).translate(_BASE_36)
    return int(digits) % 97 == _REST_97 and iban.is_valid(text)


def _phones(text: str, region: str | None) -> Iterator[tuple[int, int]]:
    suspected = _ABROAD.search(text) or (region and _DIGITS.search(text))
    if suspected:
        for each in PhoneNumberMatcher(text, region, Leniency.VALID):
            opened = each.raw_string.count("(") > each.raw_string.count(")")  # by what stands around it
            yield each.start + opened, each.end


_FINDERS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "secret": secrets_in,
    "iban": _ibans,
    "card": _cards,
    "email": _emails,
}
