"""The tags our prompts and contexts are built of, and how text from elsewhere is kept from opening or closing them."""

import re
from collections.abc import Iterator
from functools import cache

NAMES = (
    "observations",
    "thread",
    "reflection",
    "current-task",
    "suggested-response",
    "system-reminder",
    "unobserved-context",
    "memory",
    "previous-observations",
    "messages",
    "dropped",
    "sent-back",
    "review-comment",
    "task",
    "recalled",
    "working-memory",
    "extracted",
    "composed",
)
# what nobody sees: controls, all that Unicode calls format (Cf), fillers, variation selectors, the blank of Braille, tag letters
_UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_WIDE = 0xFEE0  # from a letter to its full-width double
_HYPHEN = r"[-_\u2010-\u2015\u2212\ufe58\ufe63\uff0d]"
_SLASH = r"/\uff0f\u2044\u2215"
BRACKETS = "<\uff1c\ufe64"


def _spelled(name: str) -> str:
    """A name as it may be spelled to look like itself: full-width, and with unseen characters between its letters."""
    letters = (_HYPHEN if letter == "-" else f"[{letter}{chr(ord(letter) + _WIDE)}]" for letter in name)
    return f"[{_UNSEEN}]*+".join(letters)


_WORDS = [name for name in NAMES if "-" not in name]
_VARIABLES = [name.replace("-", "_") for name in NAMES]
_TYPES = "|".join(map(str.capitalize, _WORDS))
_IDENTIFIER = r"(?<=[A-Za-z0-9_]<)(?<!\\[bfnrt]<)(?<!\\u[0-9A-Fa-f]{4}<)"  # in JSON, a line's end ends in a letter too
# a type in brackets behind an identifier, as in List<Task> or Map<Thread, int>: our tags have no capital, and follow no letter
GENERIC = rf"{_IDENTIFIER}(?-i:{_TYPES})(?=[>,\[(?<]|[ ]?[|&])"
# compared with something that ends behind the name, as in `i < messages)`: no tag goes on with such a character
COMPARED = (
    rf"(?:(?<=[A-Za-z0-9_)\]]<)|(?<=[A-Za-z0-9_)\]][ ]<))[ ]?(?:{'|'.join(_VARIABLES)})(?=[ ]?(?:[);,\]]|&&|\|\|))"
)
_INITIALS = "".join(sorted({letter for name in NAMES for letter in (name[0], chr(ord(name[0]) + _WIDE))}))
# the cheapest look comes first, because a text may be all brackets: which letter is next
NAMED = rf"(?=[\s{_SLASH}{_UNSEEN}]*+(?=[{_INITIALS}])(?:{'|'.join(map(_spelled, NAMES))})(?![\w.:-]))"
_BRACKET = re.compile(f"[{BRACKETS}]")
_CLOSES_NOTHING = str.maketrans(dict.fromkeys(BRACKETS, "&lt;"))
_SLICE = 16_000  # characters in one call of a regex, because no other thread runs meanwhile


@cache
def _opens() -> re.Pattern[str]:
    """The bracket of a tag, compiled at the first text that has a bracket: it takes longer than most imports."""
    return re.compile(rf"[{BRACKETS}]{NAMED}(?!{GENERIC}|{COMPARED})", re.IGNORECASE)


def without_brackets(text: str) -> str:
    """The text with every `<` written as `&lt;`: it stands in a tag of a prompt alone, which `escape` does not know."""
    return text.translate(_CLOSES_NOTHING)


def escape(text: str) -> str:
    """Return the text with every `<` that would open or close one of our tags written as `&lt;`.

    Upper case, attributes, missing ends, blanks, invisible and full-width characters, and `_` for a hyphen hide no tag.
    All else, other XML, arrows and code stays byte for byte, `List<Task>` and `i < messages)` with it; lower case as in
    `vector<task>` does not, because it is what our tag looks like. Escaping twice changes nothing more. Takes time in
    proportion to the text, and lets other threads run.
    """
    # said one by one, because most texts have none of them and every read asks
    if "<" not in text and "\uff1c" not in text and "\ufe64" not in text:
        return text
    return _opens().sub("&lt;", text) if len(text) <= _SLICE else "".join(_escaped(text))


def _escaped(text: str) -> Iterator[str]:
    """The pieces of an escaped text. What makes a bracket a tag ends before the next bracket, or with it as in `List<Task<`."""
    at = start = 0
    while start < len(text):
        found = _BRACKET.search(text, start + _SLICE)
        end = found.start() if found else len(text)
        for tag in _opens().finditer(text, start, end + 1):
            yield text[at : tag.start()]
            yield "&lt;"
            at = tag.end()
        start = end
    yield text[at:]
